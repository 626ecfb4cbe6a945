package floor

import (
	"bytes"
	"encoding/binary"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

const (
	testDepth  = 3
	otherName  = "demo.Other.method()"
	methodName = samples.Method + "(long,int)"
)

// execution is a record as a test states it.
type execution struct {
	trace, start, end uint64
	method            uint64
	order, depth      uint64
}

// writer writes a stream as the agent does; each thread has a state of its own.
type writer struct {
	data    []byte
	threads map[uint64]*state
}

func newWriter(names ...string) *writer {
	w := &writer{data: append([]byte(nil), magic...), threads: map[uint64]*state{}}
	for number, name := range names {
		w.frame(frameOfNames, uint64(number), []byte(name))
	}
	return w
}

func (w *writer) frame(kind byte, number uint64, content []byte) {
	w.data = append(w.data, kind)
	w.data = binary.AppendUvarint(w.data, number)
	w.data = binary.AppendUvarint(w.data, uint64(len(content)))
	w.data = append(w.data, content...)
}

// records writes a frame of a thread's executions, in the order in which they ended.
func (w *writer) records(thread uint64, executions ...execution) {
	last := w.threads[thread]
	if last == nil {
		last = &state{trace: (thread + 1) << 40}
		w.threads[thread] = last
	}
	var content []byte
	for _, e := range executions {
		content = last.append(content, e)
	}
	w.frame(frameOfRecords, thread, content)
}

func (s *state) append(to []byte, e execution) []byte {
	what, numbers := byte(0), []byte(nil)
	switch e.trace - s.trace {
	case 0:
	case 1:
		what |= nextTrace
	default:
		what |= otherTrace
		numbers = binary.AppendUvarint(numbers, e.trace-s.trace)
	}
	if e.method != uint64(s.method) {
		what |= otherMethod
		numbers = binary.AppendUvarint(numbers, e.method)
	}
	if int64(e.order) != s.order-1 || int64(e.depth) != s.depth-1 {
		what |= otherPlace
		numbers = binary.AppendUvarint(binary.AppendUvarint(numbers, e.order), e.depth)
	}
	if e.start >= s.start {
		what |= startsLater
		numbers = binary.AppendUvarint(numbers, e.start-s.start)
	} else {
		numbers = binary.AppendUvarint(numbers, s.start-e.start)
	}
	numbers = binary.AppendUvarint(numbers, e.end-s.end)
	*s = state{e.trace, e.start, e.end, uint32(e.method), int64(e.order), int64(e.depth)}
	return append(append(to, what), numbers...)
}

// chain is a call of so many executions inside each other.
func chain(trace uint64, depth int, begin uint64) []execution {
	var found []execution
	for level := depth - 1; level >= 0; level-- {
		place := uint64(level)
		found = append(found, execution{trace: trace, start: begin + place, end: begin + 100 - place, order: place, depth: place})
	}
	return found
}

// count counts a stream that arrives in pieces.
func count(data []byte, piece int) account.Account {
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, testDepth, 1000, 8<<20), nil)
	s, b := newStream(samples.Method), ledger.NewBatch(ledger.BatchRecords)
	buffer, rest := make([]byte, readBytes), 0
	for from := bytes.NewReader(data); from.Len() > 0; {
		n, _ := from.Read(buffer[rest:min(len(buffer), rest+piece)])
		rest = s.consume(buffer[:rest+n], b, l)
	}
	if rest > 0 {
		b.CutOff++
	}
	l.Apply(b)
	return l.Close()
}

// direct counts executions without any stream between.
func direct(executions []execution) account.Account {
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, testDepth, 1000, 8<<20), nil)
	b := ledger.NewBatch(len(executions))
	for _, e := range executions {
		if e.method == 1 {
			b.Unexpected.Add([]byte(otherName))
			continue
		}
		node := tree.Node{ID: e.order, Up: e.depth}
		b.Records = append(b.Records, tree.Record{Tree: tree.Key{Lo: e.trace}, Node: node, Backwards: e.end < e.start})
	}
	l.Apply(b)
	return l.Close()
}
