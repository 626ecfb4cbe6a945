package floor

import (
	"bytes"
	"encoding/binary"
	"unsafe"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
)

const (
	maxThreads     = 1 << 12
	maxMethods     = 1 << 14
	maxNameBytes   = 16 << 10
	maxNames       = 1 << 20 // bytes of all names together
	maxFrameBytes  = 64 << 10
	longestHead    = 1 + 2*binary.MaxVarintLen64
	batchBytes     = ledger.BatchRecords * int64(unsafe.Sizeof(tree.Record{}))
	memoryBytes    = maxNames + maxMethods*int64(unsafe.Sizeof(method{})) + maxThreads*int64(unsafe.Sizeof(state{}))
	frameOfNames   = 'M'
	frameOfRecords = 'R'
)

// magic begins every stream.
var magic = []byte("TTF1")

// What a record's first byte says.
const (
	nextTrace   = 1 << iota // its trace is the one after the last record's
	otherTrace              // a difference of traces follows
	otherMethod             // a method's number follows
	otherPlace              // order and depth follow; else both are one less than the last record's
	startsLater             // the difference of starts is added, and not taken off
	unknownBits = 0xff &^ (startsLater<<1 - 1)
)

// method is a name, judged once for all records that refer to it.
type method struct {
	name     string
	expected bool
}

// state is the last record of a thread, from which its next one differs little.
type state struct {
	trace, start, end uint64
	method            uint32
	order, depth      int64
}

// stream understands the bytes of one connection.
type stream struct {
	recordName string
	methods    []method
	nameBytes  int
	threads    []state
	begun      bool
	broken     bool
}

func newStream(recordName string) *stream { return &stream{recordName: recordName} }

// consume enters the whole frames of data into the batch, which it applies when it is full, moves the rest to the
// front, and returns its length.
func (s *stream) consume(data []byte, b *ledger.Batch, l *ledger.Ledger) (rest int) {
	used := 0
	if !s.begun && !s.broken {
		if len(data) < len(magic) {
			return len(data)
		}
		s.begun = true
		if !bytes.HasPrefix(data, magic) {
			s.fail(b)
		}
		used = len(magic)
	}
	for !s.broken {
		size := s.frame(data[used:], b, l)
		if size == 0 && !s.broken {
			return copy(data, data[used:])
		}
		used += size
	}
	return 0
}

// frame takes one and returns its size, or 0 if it has not arrived whole: its kind, a number, its length, its content.
func (s *stream) frame(data []byte, b *ledger.Batch, l *ledger.Ledger) int {
	if len(data) == 0 {
		return 0
	}
	head := reader{data: data[1:min(len(data), longestHead)]}
	number, length := head.number(), head.number()
	if head.short {
		if len(data) >= longestHead {
			return s.fail(b)
		}
		return 0
	}
	if length > maxFrameBytes {
		return s.fail(b)
	}
	begin := 1 + head.used
	if uint64(len(data)-begin) < length {
		return 0
	}
	content := data[begin : begin+int(length)]
	switch data[0] {
	case frameOfNames:
		s.name(number, content, b)
	case frameOfRecords:
		s.records(number, content, b, l)
	default:
		s.fail(b)
	}
	return begin + int(length)
}

// name takes the name of a method; numbers go up one by one.
func (s *stream) name(number uint64, text []byte, b *ledger.Batch) {
	s.nameBytes += len(text)
	if number != uint64(len(s.methods)) || number >= maxMethods || len(text) > maxNameBytes || s.nameBytes > maxNames {
		s.fail(b)
		return
	}
	name := string(text)
	s.methods = append(s.methods, method{name, ledger.NamesMethod(name, s.recordName)})
}

// records takes those of one thread.
func (s *stream) records(thread uint64, content []byte, b *ledger.Batch, l *ledger.Ledger) {
	if thread >= maxThreads {
		s.fail(b)
		return
	}
	for uint64(len(s.threads)) <= thread {
		s.threads = append(s.threads, state{trace: (uint64(len(s.threads)) + 1) << 40})
	}
	last := &s.threads[thread]
	from := reader{data: content}
	for from.used < len(content) {
		if !s.record(last, &from) {
			s.fail(b)
			return
		}
		of := &s.methods[last.method]
		if !of.expected {
			b.Unexpected.Add([]byte(of.name))
			continue
		}
		b.Records = append(b.Records, tree.Record{
			Tree:      tree.Key{Lo: last.trace},
			Node:      tree.Node{ID: uint64(last.order), Up: uint64(last.depth)},
			Backwards: last.end < last.start,
		})
		if len(b.Records) == ledger.BatchRecords {
			l.Apply(b)
		}
	}
}

// record reads one and makes it the thread's last; false where it cannot be understood.
func (s *stream) record(last *state, from *reader) bool {
	what := from.byte()
	switch {
	case what&unknownBits != 0 || what&nextTrace != 0 && what&otherTrace != 0:
		return false
	case what&nextTrace != 0:
		last.trace++
	case what&otherTrace != 0:
		last.trace += from.number()
	}
	if what&otherMethod != 0 {
		number := from.number()
		if number >= uint64(len(s.methods)) {
			return false
		}
		last.method = uint32(number)
	}
	if what&otherPlace != 0 {
		order, depth := from.number(), from.number()
		if order > 1<<31 || depth > 1<<31 {
			return false
		}
		last.order, last.depth = int64(order), int64(depth)
	} else {
		last.order--
		last.depth--
	}
	if by := from.number(); what&startsLater != 0 {
		last.start += by
	} else {
		last.start -= by
	}
	last.end += from.number()
	return !from.short && last.order >= 0 && last.depth >= 0 && int(last.method) < len(s.methods)
}

func (s *stream) fail(b *ledger.Batch) int {
	if !s.broken {
		b.Malformed++
	}
	s.broken = true
	return 0
}

// reader takes numbers from bytes; short is set where they end too early, or a number is too long.
type reader struct {
	data  []byte
	used  int
	short bool
}

func (r *reader) byte() byte {
	if r.used >= len(r.data) {
		r.short = true
		return 0
	}
	value := r.data[r.used]
	r.used++
	return value
}

func (r *reader) number() uint64 {
	if r.used < len(r.data) && r.data[r.used] < 0x80 { // most numbers are small
		r.used++
		return uint64(r.data[r.used-1])
	}
	value, size := binary.Uvarint(r.data[r.used:])
	if size <= 0 {
		r.short = true
		return 0
	}
	r.used += size
	return value
}
