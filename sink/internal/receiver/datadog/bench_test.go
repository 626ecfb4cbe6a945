package datadog

import (
	"encoding/binary"
	"net/http"
	"testing"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

// BenchmarkDatadogSpan counts spans of version 0.4, fresh trees in every round.
func BenchmarkDatadogSpan(b *testing.B) {
	const calls = 400
	message := mappedTraces(traceList(1, calls, 10)...)
	ids := sinktest.FindIDs(message, []byte("trace_id"), 1, 8)
	l := ledger.New(tree.NewTable(&tree.OuterFirst{}, 10, 1_000_000, 384<<20), Protocol.Signals)
	w := newWalks(samples.SpanName, l, (*walk).mapped).Get().(*httpserver.Walk)
	w.Headers(http.Header{})
	var cpu samples.CPUTime
	sinktest.BenchmarkRounds(b, message, ids, binary.BigEndian.PutUint64, func() {
		cpu.Begin()
		if w.Message(message) != nil {
			b.Fatal("malformed")
		}
		l.Apply(w.Batch)
		cpu.End()
	})
	cpu.Report(b, b.N)
}
