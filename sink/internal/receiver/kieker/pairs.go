package kieker

import (
	"bytes"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
)

const (
	// maxBegun is how many executions of a stream may have begun and not ended: a tree may be as deep. maxTraces is how
	// many traces they may belong to. Where there is one more, all are given up.
	maxBegun  = 40 * chunkPlaces
	maxTraces = 1 << 10

	chunkPlaces = 256
)

// What an event is told as that has no counterpart.
const (
	endless   = "BeforeOperationEvent without its AfterOperationEvent"
	beginless = "AfterOperationEvent without its BeforeOperationEvent"
)

// event is what Kieker's flow records say when an execution begins, ends or fails.
type event struct {
	timeNs int64
	trace  uint64
	index  int32  // of the event in its trace
	method uint64 // the same in both events of an execution, another one for another method
}

// pairs makes executions of events. Those of one trace come in their order, those of several traces as they like. A
// trace numbers its events one after the other: so an execution has an even number of them inside.
type pairs struct {
	chunks [][]begun // their places; place 0 stays unused: it stands for none
	used   int32     // places taken so far, the ones given back included
	unused int32     // the first of these; each names the next one in around
	open   int       // executions that have begun and not ended

	traces map[uint64]openTrace // with open executions, but for the latest one
	latest uint64
	openTrace
}

// begun is an execution that has begun.
type begun struct {
	timeNs int64
	method uint64
	index  int32
	around int32 // the place of the execution around it
}

// openTrace is where the next event of a trace belongs.
type openTrace struct {
	innermost int32 // the place of the execution that has begun last
	level     int32 // how many have begun, one inside the other
}

// begin enters a BeforeOperationEvent.
func (p *pairs) begin(e event, b *ledger.Batch) {
	if p.open >= maxBegun || len(p.traces) >= maxTraces {
		p.giveUp(b)
	}
	p.turnTo(e.trace)
	place := p.take()
	*p.at(place) = begun{timeNs: e.timeNs, method: e.method, index: e.index, around: p.innermost}
	p.innermost = place
	p.level++
	p.open++
}

// end enters an AfterOperationEvent. It returns the execution that it ends: the innermost one of its trace that has its
// method and an even number of events inside. What has begun inside that one has lost its end.
func (p *pairs) end(e event, b *ledger.Batch) (execution tree.Record, paired bool) {
	p.turnTo(e.trace)
	for place := p.innermost; place != 0; place = p.at(place).around {
		x := p.at(place)
		if apart := int64(e.index) - int64(x.index); x.method != e.method || apart < 0 || apart%2 == 0 {
			continue
		}
		for p.innermost != place {
			p.leave()
			b.Unexpected.AddTo(endless, 1)
		}
		p.leave()
		return tree.Record{
			Tree:      tree.Key{Lo: e.trace},
			Node:      tree.Node{ID: uint64(x.index), Up: uint64(p.level)},
			Backwards: e.timeNs < x.timeNs,
		}, true
	}
	b.Unexpected.AddTo(beginless, 1)
	return tree.Record{}, false
}

// giveUp tells of all executions that have begun: their ends will not come, or not be known.
func (p *pairs) giveUp(b *ledger.Batch) {
	if p.open > 0 {
		b.Unexpected.AddTo(endless, int64(p.open))
	}
	*p = pairs{chunks: p.chunks}
}

// turnTo makes the trace the latest one.
func (p *pairs) turnTo(trace uint64) {
	if trace == p.latest {
		return
	}
	if p.innermost != 0 {
		if p.traces == nil {
			p.traces = map[uint64]openTrace{}
		}
		p.traces[p.latest] = p.openTrace
	}
	p.latest, p.openTrace = trace, p.traces[trace]
	delete(p.traces, trace)
}

func (p *pairs) at(place int32) *begun {
	return &p.chunks[place/chunkPlaces][place%chunkPlaces]
}

// take returns a place that nothing is in.
func (p *pairs) take() int32 {
	if place := p.unused; place != 0 {
		p.unused = p.at(place).around
		return place
	}
	p.used++
	if int(p.used/chunkPlaces) >= len(p.chunks) {
		p.chunks = append(p.chunks, make([]begun, chunkPlaces))
	}
	return p.used
}

// leave gives back the place of the innermost execution.
func (p *pairs) leave() {
	place := p.innermost
	p.innermost = p.at(place).around
	p.at(place).around = p.unused
	p.unused = place
	p.level--
	p.open--
}

// namesOperation reports whether a class and the name of its method together are the name, as "a.B" and "run" are
// "a.B.run", or end in it behind a dot.
func namesOperation(class, operation []byte, name string) bool {
	at := len(name) - len(operation)
	if at < 0 || name[at:] != string(operation) {
		return false
	}
	if at == 0 {
		return true
	}
	outer := name[:at-1]
	from := len(class) - len(outer)
	return name[at-1] == '.' && from >= 0 && string(class[from:]) == outer && (from == 0 || class[from-1] == '.')
}

// fullName writes the method of an event over the scratch: a whole signature as Kieker for Java has it, or class and
// method.
func fullName(scratch, class, operation []byte) []byte {
	if bytes.IndexByte(operation, '(') >= 0 {
		return append(scratch[:0], operation...)
	}
	return append(append(append(scratch[:0], class...), '.'), operation...)
}
