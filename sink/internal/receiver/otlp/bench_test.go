package otlp

import (
	"encoding/binary"
	"testing"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

func BenchmarkSpan(b *testing.B) {
	const calls = 400
	var spans []samples.Span
	for range uint64(calls) {
		spans = append(spans, samples.CallSpans(1, 10)...)
	}
	request := samples.ExportRequest(spans...)
	ids := sinktest.FindIDs(request, binary.BigEndian.AppendUint64([]byte{0x0a, 16, 0, 0, 0, 0, 0, 0, 0, 0}, 1), -8, 8)
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1_000_000, 384<<20), signals)
	walk := newWalk(samples.SpanName, l)
	var cpu samples.CPUTime
	sinktest.BenchmarkRounds(b, request, ids, binary.BigEndian.PutUint64, func() {
		cpu.Begin()
		if walk.request(request) != nil {
			b.Fatal("malformed")
		}
		l.Apply(walk.batch)
		cpu.End()
	})
	cpu.Report(b, b.N)
}

func BenchmarkSpanInJSON(b *testing.B) {
	sinktest.BenchmarkMessages(b, jsonRequest(samples.Calls(1, 400, 10)...), newJSONWalks)
}
