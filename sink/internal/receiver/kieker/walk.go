package kieker

import (
	"encoding/binary"
	"unsafe"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
)

const (
	recordBytes = int64(unsafe.Sizeof(tree.Record{}))

	// A data record begins with its class id (4 bytes) and a logging timestamp (8 bytes).
	executionBytes   = 12 + 44
	metadataBytes    = 12 + 37
	traceBytes       = 12 + 36
	operationBytes   = 12 + 28
	registryHead     = 12
	registryMark     = -1
	maxStringBytes   = 16 << 10
	maxStrings       = 1 << 14
	maxRegistryBytes = 1 << 20
	// registryPlaces is the memory for the places of a full registry, once more while it grows.
	registryPlaces = 2 * maxStrings * int64(unsafe.Sizeof(registered{}))
)

// classes are the record classes whose layout is known; there is no length on the wire to skip another one.
var classes = map[string]uint8{
	"kieker.common.record.controlflow.OperationExecutionRecord":      executionBytes,
	"kieker.common.record.misc.KiekerMetadataRecord":                 metadataBytes,
	"kieker.common.record.flow.trace.TraceMetadata":                  traceBytes,
	"kieker.common.record.flow.trace.operation.BeforeOperationEvent": operationBytes,
	"kieker.common.record.flow.trace.operation.AfterOperationEvent":  operationBytes,
}

// registered is a string of the stream's registry, judged once for all records that refer to it.
type registered struct {
	text     []byte
	size     uint8 // bytes of a record of this class; 0 if it is no known class
	expected bool  // it is the signature of the expected method
}

// stream understands the bytes of one connection.
type stream struct {
	recordName    string
	registry      []registered
	registryBytes int
	registryGiven bool // it comes from elsewhere: none of its entries stands between the records
	broken        bool // nothing that follows can be understood
}

func newStream(recordName string) *stream {
	return &stream{recordName: recordName}
}

// Consume enters the whole records of data into the batch, moves the rest to the front, and returns its length.
func (s *stream) Consume(data []byte, b *ledger.Batch) (rest int) {
	used := 0
	for !s.broken {
		size := s.next(data[used:], b)
		if size == 0 && !s.broken {
			return copy(data, data[used:])
		}
		used += size
	}
	return 0
}

// next enters one record and returns its size, or 0 if it has not arrived whole.
func (s *stream) next(data []byte, b *ledger.Batch) int {
	if len(data) < 4 {
		return 0
	}
	class := int32(binary.BigEndian.Uint32(data))
	if class == registryMark && !s.registryGiven {
		return s.register(data, b)
	}
	if class < 0 || int(class) >= len(s.registry) || s.registry[class].size == 0 {
		return s.fail(b)
	}
	size := int(s.registry[class].size)
	if len(data) < size {
		return 0
	}
	switch size {
	case executionBytes:
		s.execution(data[:executionBytes], b)
	case metadataBytes:
		// It describes the stream and is no record of a method.
	default:
		b.Unexpected.Add(s.registry[class].text)
	}
	return size
}

// execution enters an OperationExecutionRecord: signature, session, trace id, start, end, host, eoi, ess.
func (s *stream) execution(data []byte, b *ledger.Batch) {
	signature := binary.BigEndian.Uint32(data[12:])
	if int64(signature) >= int64(len(s.registry)) || s.registry[signature].text == nil {
		s.fail(b)
		return
	}
	if method := &s.registry[signature]; !method.expected {
		b.Unexpected.Add(method.text)
		return
	}
	b.Records = append(b.Records, tree.Record{
		Tree: tree.Key{Lo: binary.BigEndian.Uint64(data[20:])},
		Node: tree.Node{
			ID: uint64(int32(binary.BigEndian.Uint32(data[48:]))),
			Up: uint64(int32(binary.BigEndian.Uint32(data[52:]))),
		},
		Backwards: int64(binary.BigEndian.Uint64(data[36:])) < int64(binary.BigEndian.Uint64(data[28:])),
	})
}

// register takes an entry of the string registry: mark, id, length in chars, text.
func (s *stream) register(data []byte, b *ledger.Batch) int {
	if len(data) < registryHead {
		return 0
	}
	id := int32(binary.BigEndian.Uint32(data[4:]))
	chars := int32(binary.BigEndian.Uint32(data[8:]))
	if id < 0 || id >= maxStrings || chars < 0 || chars > maxStringBytes {
		return s.fail(b)
	}
	length, whole := utf8Length(data[registryHead:], int(chars))
	if !s.fits(length) {
		return s.fail(b)
	}
	if !whole {
		return 0
	}
	s.enter(id, data[registryHead:registryHead+length])
	return registryHead + length
}

// fits reports whether the registry has room for another string.
func (s *stream) fits(length int) bool {
	return length <= maxStringBytes && s.registryBytes+length <= maxRegistryBytes
}

// enter puts a string that fits into the registry, in the place of an earlier one of the same id.
func (s *stream) enter(id int32, text []byte) {
	for int(id) >= len(s.registry) {
		s.registry = append(s.registry, registered{})
	}
	s.registryBytes += len(text)
	s.registry[id] = registered{
		text:     append([]byte{}, text...),
		size:     classes[string(text)],
		expected: ledger.NamesMethod(string(text), s.recordName),
	}
}

func (s *stream) fail(b *ledger.Batch) int {
	b.Malformed++
	s.broken = true
	return 0
}

// utf8Length is how many bytes hold the given number of chars, and whether all of them are there. Kieker writes the
// length of a Java string, in which a character outside the basic plane counts twice, and then its UTF-8 bytes.
func utf8Length(data []byte, chars int) (length int, whole bool) {
	for chars > 0 && length < len(data) {
		switch lead := data[length]; {
		case lead < 0xe0 && lead >= 0xc0:
			length += 2
		case lead >= 0xe0 && lead < 0xf0:
			length += 3
		case lead >= 0xf0:
			length += 4
			chars--
		default:
			length++
		}
		chars--
	}
	return length, chars <= 0 && length <= len(data)
}
