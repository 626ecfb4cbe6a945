package skywalking

import (
	"bytes"
	"encoding/binary"
	"testing"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

func BenchmarkSegmentSpan(b *testing.B) {
	const depth = 10
	segment := segmentBytes(callSegment(0, depth))
	// The text of an id is not looked at: its last eight bytes are the number of the call.
	number := bytes.LastIndex(segment, []byte("17600000000000000")) + 9
	l := ledger.New(tree.NewTable(Protocol.Structure(), depth, 1_000_000, 384<<20), Protocol.Signals)
	walk := newWalk(samples.SpanName, testSeeds, l)
	call, counted := uint64(0), 0
	var cpu samples.CPUTime
	b.SetBytes(int64(len(segment) / depth))
	for b.Loop() {
		if counted%(400*depth) == 0 {
			cpu.Begin()
			for range 400 {
				call++
				binary.BigEndian.PutUint64(segment[number:], call)
				if walk.segment(segment) != nil {
					b.Fatal("malformed")
				}
				l.Apply(walk.batch)
			}
			cpu.End()
		}
		counted++
	}
	cpu.Report(b, counted)
	if c := l.Close(); c.CompleteTrees != int64(call) {
		b.Fatalf("%d segments are %+v", call, c)
	}
}
