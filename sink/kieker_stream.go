package main

import (
	"encoding/binary"
	"strings"
	"unsafe"
)

const (
	recordBytes = int64(unsafe.Sizeof(record{}))

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

// kiekerClasses are the record classes whose layout is known; there is no length on the wire to skip another one.
var kiekerClasses = map[string]uint8{
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

// kiekerStream understands the bytes of one connection.
type kiekerStream struct {
	recordName    string
	registry      []registered
	registryBytes int
	registryGiven bool // it comes from elsewhere: none of its entries stands between the records
	broken        bool // nothing that follows can be understood
}

func newKiekerStream(recordName string) *kiekerStream {
	return &kiekerStream{recordName: recordName}
}

// consume enters the whole records of data into the batch, moves the rest to the front, and returns its length.
func (s *kiekerStream) consume(data []byte, b *batch) (rest int) {
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
func (s *kiekerStream) next(data []byte, b *batch) int {
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
		b.unexpected.add(s.registry[class].text)
	}
	return size
}

// execution enters an OperationExecutionRecord: signature, session, trace id, start, end, host, eoi, ess.
func (s *kiekerStream) execution(data []byte, b *batch) {
	signature := binary.BigEndian.Uint32(data[12:])
	if int64(signature) >= int64(len(s.registry)) || s.registry[signature].text == nil {
		s.fail(b)
		return
	}
	if method := &s.registry[signature]; !method.expected {
		b.unexpected.add(method.text)
		return
	}
	b.records = append(b.records, record{
		tree: treeKey{lo: binary.BigEndian.Uint64(data[20:])},
		node: node{
			id: uint64(int32(binary.BigEndian.Uint32(data[48:]))),
			up: uint64(int32(binary.BigEndian.Uint32(data[52:]))),
		},
		backwards: int64(binary.BigEndian.Uint64(data[36:])) < int64(binary.BigEndian.Uint64(data[28:])),
	})
}

// register takes an entry of the string registry: mark, id, length in chars, text.
func (s *kiekerStream) register(data []byte, b *batch) int {
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
func (s *kiekerStream) fits(length int) bool {
	return length <= maxStringBytes && s.registryBytes+length <= maxRegistryBytes
}

// enter puts a string that fits into the registry, in the place of an earlier one of the same id.
func (s *kiekerStream) enter(id int32, text []byte) {
	for int(id) >= len(s.registry) {
		s.registry = append(s.registry, registered{})
	}
	s.registryBytes += len(text)
	s.registry[id] = registered{
		text:     append([]byte{}, text...),
		size:     kiekerClasses[string(text)],
		expected: namesMethod(string(text), s.recordName),
	}
}

func (s *kiekerStream) fail(b *batch) int {
	b.malformed++
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

// namesMethod reports whether a Kieker signature, such as "public long a.B.run(long,int)", is of the named method.
func namesMethod(signature, name string) bool {
	for at := 0; ; {
		found := strings.Index(signature[at:], name+"(")
		if found < 0 {
			return false
		}
		at += found
		if at == 0 || signature[at-1] == ' ' || signature[at-1] == '.' {
			return true
		}
		at++
	}
}
