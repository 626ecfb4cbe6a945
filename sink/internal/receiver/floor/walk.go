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
	frameOfTime    = 'T'
	timeBytes      = 24
)

// A record as it was foreseen has four bytes, any other begins with so many ones.
const (
	foreseenBytes = 4
	whole         = 1<<32 - 1
	wholeBytes    = 40
	earliest      = 1 << 14 // so much earlier than the last one a foreseen record may start
	mostLater     = 1<<15 - 1
)

// magic begins every stream.
var magic = []byte("TTF1")

// method is a name, judged once for all records that refer to it.
type method struct {
	name     string
	expected bool
}

// state is the last record of a thread, and the place of its last one that was whole: what the next one is foreseen by.
type state struct {
	trace, start, end uint64
	method            uint32
	order, depth      uint32
	wholeOrder        uint32
	wholeDepth        uint32
	begun             bool
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
	case frameOfTime: // what readings mean: order is all that is looked at here
		if length != timeBytes {
			s.fail(b)
		}
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
		s.threads = append(s.threads, state{})
	}
	last := &s.threads[thread]
	for len(content) > 0 {
		size := last.take(content, len(s.methods))
		if size == 0 {
			s.fail(b)
			return
		}
		content = content[size:]
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

// take reads a record, makes it the thread's last and returns its size, or 0 where it cannot be understood.
func (s *state) take(data []byte, methods int) int {
	if len(data) < foreseenBytes {
		return 0
	}
	word := binary.LittleEndian.Uint32(data)
	if word == whole {
		return s.takeWhole(data, methods)
	}
	later, longer := word&0xffff, word>>16
	if !s.begun || later > mostLater || longer > mostLater {
		return 0
	}
	switch {
	case s.depth == 0:
		s.trace++
		s.order, s.depth = s.wholeOrder, s.wholeDepth
	case s.order == 0:
		return 0
	default:
		s.order--
		s.depth--
	}
	s.start += uint64(later) - earliest
	s.end += uint64(longer)
	return foreseenBytes
}

func (s *state) takeWhole(data []byte, methods int) int {
	if len(data) < wholeBytes {
		return 0
	}
	s.method = binary.LittleEndian.Uint32(data[4:])
	s.trace = binary.LittleEndian.Uint64(data[8:])
	s.depth = binary.LittleEndian.Uint32(data[16:])
	s.order = binary.LittleEndian.Uint32(data[20:])
	s.start = binary.LittleEndian.Uint64(data[24:])
	s.end = binary.LittleEndian.Uint64(data[32:])
	s.wholeOrder, s.wholeDepth = s.order, s.depth
	s.begun = true
	if uint64(s.method) >= uint64(methods) {
		return 0
	}
	return wholeBytes
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

func (r *reader) number() uint64 {
	value, size := binary.Uvarint(r.data[r.used:])
	if size <= 0 {
		r.short = true
		return 0
	}
	r.used += size
	return value
}
