package kieker

import (
	"bytes"
	"hash/maphash"
	"math"
	"math/bits"

	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
)

// maxTextLine is the longest line that is understood: a record's strings, and its numbers.
const maxTextLine = 4 * maxStringBytes

// textFile understands the lines of one log.
type textFile struct {
	stream    // its registry
	lines     files.Lines
	signature []byte // the last one seen
	expected  bool   // whether it is of the expected method
	seed      maphash.Seed
}

func (k *textFile) Begin() { k.lines = files.Lines{Limit: maxTextLine} }

func (k *textFile) Consume(data []byte, b *ledger.Batch) (rest int) {
	return k.lines.Consume(data, b, k.line)
}

// line enters one record and reports whether it could be understood.
func (k *textFile) line(line []byte, b *ledger.Batch) bool {
	f := fields{rest: line, good: true}
	head := f.text()
	if len(head) < 2 || head[0] != '$' {
		return false
	}
	class, good := integer(head[1:])
	if !good || class < 0 || class >= int64(len(k.registry)) || k.registry[class].size == 0 {
		return false
	}
	switch k.registry[class].size {
	case executionBytes:
		return k.executionLine(&f, b)
	case operationBytes, failedBytes:
		return k.eventLine(&f, k.registry[class].class, b)
	default:
		// It describes the log or a trace, and is no record of a method.
	}
	return true
}

// eventLine enters an event of flow records: when it was logged, then the fields of the stream in their order.
func (k *textFile) eventLine(f *fields, of class, b *ledger.Batch) bool {
	f.int64()
	e := event{timeNs: f.int64(), trace: uint64(f.int64()), index: int32(f.int32())}
	operation, class := f.text(), f.text()
	if whyFailed := of.size == failedBytes; !f.good || f.ended == whyFailed {
		return false
	}
	e.method = maphash.Bytes(k.seed, operation) ^ bits.RotateLeft64(maphash.Bytes(k.seed, class), 1)
	if of.begins {
		k.pairs.begin(e, b)
		return true
	}
	execution, paired := k.pairs.end(e, b)
	if !paired {
		return true
	}
	k.name = fullName(k.name, class, operation)
	if ledger.NamesMethod(string(k.name), k.recordName) || namesOperation(class, operation, k.recordName) {
		b.Records = append(b.Records, execution)
	} else {
		b.Unexpected.Add(k.name)
	}
	return true
}

// executionLine enters an OperationExecutionRecord: when it was logged, then the fields of the stream in their order.
func (k *textFile) executionLine(f *fields, b *ledger.Batch) bool {
	f.int64()
	signature := f.text()
	f.text() // session
	trace, start, end := f.int64(), f.int64(), f.int64()
	f.text() // host
	eoi, ess := f.int32(), f.int32()
	if !f.good || !f.ended {
		return false
	}
	if k.signature == nil || !bytes.Equal(signature, k.signature) {
		k.signature = append(k.signature[:0:0], signature...)
		k.expected = ledger.NamesMethod(string(signature), k.recordName)
	}
	if !k.expected {
		b.Unexpected.Add(signature)
		return true
	}
	b.Records = append(b.Records, tree.Record{
		Tree:      tree.Key{Lo: uint64(trace)},
		Node:      tree.Node{ID: uint64(eoi), Up: uint64(ess)},
		Backwards: end < start,
	})
	return true
}

// fields takes the fields of a line from its front; good is false from the first one that is not what it should be.
type fields struct {
	rest  []byte
	ended bool // the last field was taken
	good  bool
}

func (f *fields) text() []byte {
	if f.ended {
		f.good = false
		return nil
	}
	at := bytes.IndexByte(f.rest, ';')
	if at < 0 {
		f.ended = true
		return f.rest
	}
	field := f.rest[:at]
	f.rest = f.rest[at+1:]
	return field
}

func (f *fields) int64() int64 {
	value, good := integer(f.text())
	f.good = f.good && good
	return value
}

func (f *fields) int32() int64 {
	value := f.int64()
	f.good = f.good && value >= math.MinInt32 && value <= math.MaxInt32
	return value
}

// integer reads a decimal number of 64 bits.
func integer(text []byte) (value int64, good bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 19 {
		return 0, false
	}
	var magnitude uint64
	for _, c := range text {
		digit := uint64(c) - '0'
		if digit > 9 {
			return 0, false
		}
		magnitude = magnitude*10 + digit
	}
	if negative {
		return -int64(magnitude), magnitude <= 1<<63
	}
	return int64(magnitude), magnitude <= math.MaxInt64
}
