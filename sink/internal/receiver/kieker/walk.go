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
	failedBytes      = 12 + 32
	registryHead     = 12
	registryMark     = -1
	maxStringBytes   = 16 << 10
	maxStrings       = 1 << 14
	maxRegistryBytes = 1 << 20
	// registryPlaces is the memory for the places of a full registry, once more while it grows.
	registryPlaces = 2 * maxStrings * int64(unsafe.Sizeof(registered{}))
	// pairBytes is the memory for all executions that may have begun, and for the traces that they belong to.
	pairBytes = (maxBegun+chunkPlaces)*int64(unsafe.Sizeof(begun{})) + maxTraces*64
)

const metadataClass = "kieker.common.record.misc.KiekerMetadataRecord"

// class is what is known of a record class.
type class struct {
	size   uint8 // bytes of a record; 0 if it is no known class
	begins bool  // it says that an execution begins
}

// classes are the record classes whose layout is known; there is no length on the wire to skip another one.
var classes = map[string]class{
	"kieker.common.record.controlflow.OperationExecutionRecord": {size: executionBytes},
	metadataClass: {size: metadataBytes},
	"kieker.common.record.flow.trace.TraceMetadata":                       {size: traceBytes},
	"kieker.common.record.flow.trace.operation.BeforeOperationEvent":      {size: operationBytes, begins: true},
	"kieker.common.record.flow.trace.operation.AfterOperationEvent":       {size: operationBytes},
	"kieker.common.record.flow.trace.operation.AfterOperationFailedEvent": {size: failedBytes},
}

// registered is a string of the stream's registry, judged once for all records that refer to it.
type registered struct {
	text     []byte
	class         // what it is as the name of a record class
	expected bool // it is the signature of the expected method
}

// stream understands the bytes of one connection.
type stream struct {
	recordName    string
	registry      []registered
	registryBytes int
	registryGiven bool // it comes from elsewhere: none of its entries stands between the records
	registryComes bool // it comes on another connection, perhaps later than the records that refer to it
	waits         bool // the next record refers to a string that has not come yet
	inBytes       bool // strings' lengths are told in bytes
	broken        bool // nothing that follows can be understood
	pairs         pairs
	name          []byte // scratch: of a method that is not the expected one
}

func newStream(recordName string) *stream {
	return &stream{recordName: recordName}
}

// Consume enters the whole records of data into the batch, moves the rest to the front, and returns its length.
func (s *stream) Consume(data []byte, b *ledger.Batch) (rest int) {
	used := 0
	s.waits = false
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
	if s.mayCome(uint32(class)) {
		return s.wait()
	}
	if class < 0 || int(class) >= len(s.registry) || s.registry[class].size == 0 {
		return s.fail(b)
	}
	size := int(s.registry[class].size)
	if len(data) < size {
		return 0
	}
	if s.registryComes && s.lacksString(data[:size]) {
		return s.wait()
	}
	switch size {
	case executionBytes:
		s.execution(data[:executionBytes], b)
	case operationBytes, failedBytes:
		s.event(data[:operationBytes], s.registry[class].begins, b)
	default:
		// It describes the stream or a trace, and is no record of a method.
	}
	return size
}

// mayCome reports whether a string that is not known may still come on its own connection.
func (s *stream) mayCome(id uint32) bool {
	return s.registryComes && id < maxStrings && (int(id) >= len(s.registry) || s.registry[id].text == nil)
}

// lacksString reports whether a whole record refers to a string that may still come.
func (s *stream) lacksString(data []byte) bool {
	switch len(data) {
	case executionBytes:
		return s.mayCome(binary.BigEndian.Uint32(data[12:]))
	case operationBytes, failedBytes:
		return s.mayCome(binary.BigEndian.Uint32(data[32:])) || s.mayCome(binary.BigEndian.Uint32(data[36:]))
	}
	return false
}

func (s *stream) wait() int {
	s.waits = true
	return 0
}

// End says that nothing more comes.
func (s *stream) End(b *ledger.Batch) { s.pairs.giveUp(b) }

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

// event enters an event of flow records: time, trace id, order index, operation, class, and why it failed.
func (s *stream) event(data []byte, begins bool, b *ledger.Batch) {
	operation, class := s.lookUp(data[32:]), s.lookUp(data[36:])
	if operation == nil || class == nil {
		s.fail(b)
		return
	}
	e := event{
		timeNs: int64(binary.BigEndian.Uint64(data[12:])),
		trace:  binary.BigEndian.Uint64(data[20:]),
		index:  int32(binary.BigEndian.Uint32(data[28:])),
		method: binary.BigEndian.Uint64(data[32:]),
	}
	if begins {
		s.pairs.begin(e, b)
		return
	}
	execution, paired := s.pairs.end(e, b)
	if !paired {
		return
	}
	if operation.expected || namesOperation(class.text, operation.text, s.recordName) {
		b.Records = append(b.Records, execution)
		return
	}
	s.name = fullName(s.name, class.text, operation.text)
	b.Unexpected.Add(s.name)
}

// lookUp is the string that a number stands for, or nil.
func (s *stream) lookUp(number []byte) *registered {
	id := binary.BigEndian.Uint32(number)
	if int64(id) >= int64(len(s.registry)) || s.registry[id].text == nil {
		return nil
	}
	return &s.registry[id]
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
	length, whole := s.textLength(data[registryHead:], int(chars))
	if !s.fits(length) {
		return s.fail(b)
	}
	if !whole {
		return 0
	}
	text := data[registryHead : registryHead+length]
	if len(s.registry) == 0 {
		s.inBytes = string(text) != metadataClass
	}
	s.enter(id, text)
	return registryHead + length
}

// textLength is how many bytes a string has whose length was told, and whether all of them are there. Kieker for Java
// begins its stream with its metadata, and tells lengths in chars. Kieker for Python has no such record, and tells them
// in bytes.
func (s *stream) textLength(data []byte, told int) (length int, whole bool) {
	if s.inBytes {
		return told, told <= len(data)
	}
	return utf8Length(data, told)
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
		class:    classes[string(text)],
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
