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
		last = &state{}
		w.threads[thread] = last
	}
	var content []byte
	for _, e := range executions {
		content = last.append(content, e)
	}
	w.frame(frameOfRecords, thread, content)
}

func (s *state) append(to []byte, e execution) []byte {
	later, longer := e.start-s.start+earliest, e.end-s.end
	if s.foresees(e) && later <= mostLater && longer <= mostLater {
		to = binary.LittleEndian.AppendUint32(to, uint32(later|longer<<16))
	} else {
		to = binary.LittleEndian.AppendUint32(to, whole)
		to = binary.LittleEndian.AppendUint32(to, uint32(e.method))
		to = binary.LittleEndian.AppendUint64(to, e.trace)
		to = binary.LittleEndian.AppendUint64(to, e.order<<32|e.depth)
		to = binary.LittleEndian.AppendUint64(to, e.start)
		to = binary.LittleEndian.AppendUint64(to, e.end)
		s.wholeOrder, s.wholeDepth = uint32(e.order), uint32(e.depth)
	}
	s.trace, s.start, s.end, s.method = e.trace, e.start, e.end, uint32(e.method)
	s.order, s.depth, s.begun = uint32(e.order), uint32(e.depth), true
	return to
}

func (s *state) foresees(e execution) bool {
	if !s.begun || e.method != uint64(s.method) {
		return false
	}
	if s.depth == 0 {
		return e.trace == s.trace+1 && e.order == uint64(s.wholeOrder) && e.depth == uint64(s.wholeDepth)
	}
	return e.trace == s.trace && e.order+1 == uint64(s.order) && e.depth+1 == uint64(s.depth)
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
