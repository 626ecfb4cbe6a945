package ledger

// AnyName, in the place of the name that records are expected to have, is that of every record.
const AnyName = "*"

// RecordName is the name that records are expected to have.
type RecordName string

// Is reports whether a record of this name is expected.
func (n RecordName) Is(name []byte) bool {
	return string(name) == string(n) || n == AnyName
}
