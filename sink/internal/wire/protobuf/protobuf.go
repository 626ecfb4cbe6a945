// Package protobuf reads the fields of a message in protobuf's encoding.
package protobuf

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

var errNoMessage = errors.New("no valid protobuf message")

// Field is one field of a protobuf message: varint or bytes is set, as its kind says. A fixed number of 64 bits is
// a varint here.
type Field struct {
	Number protowire.Number
	Kind   protowire.Type
	Varint uint64
	Bytes  []byte
}

// Each calls visit with every field of a message, of whatever kind. It ends with the first error.
func Each(message []byte, visit func(Field) error) error {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return errNoMessage
		}
		message = message[size:]
		f := Field{Number: number, Kind: kind}
		switch kind {
		case protowire.VarintType:
			f.Varint, size = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			f.Bytes, size = protowire.ConsumeBytes(message)
		case protowire.Fixed64Type:
			f.Varint, size = protowire.ConsumeFixed64(message)
		default:
			size = protowire.ConsumeFieldValue(number, kind, message)
		}
		if size < 0 {
			return errNoMessage
		}
		message = message[size:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}
