package datadog

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"testing"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

// BenchmarkDatadogSpan counts spans of version 0.4, fresh trees in every round.
func BenchmarkDatadogSpan(b *testing.B) {
	const calls = 400
	message := mappedTraces(traceList(1, calls, 10)...)
	var traces [][]byte
	key := []byte("trace_id")
	for at := 0; ; {
		next := bytes.Index(message[at:], key)
		if next < 0 {
			break
		}
		at += next + len(key) + 1 + 8
		traces = append(traces, message[at-8:at])
	}
	l := ledger.New(tree.NewTable(&tree.OuterFirst{}, 10, 1_000_000, 384<<20), Protocol.Signals)
	w := newWalks(samples.SpanName, l, (*walk).mapped).Get().(*httpserver.Walk)
	w.Headers(http.Header{})
	trace, counted := uint64(1), 0
	var cpu samples.CPUTime
	b.SetBytes(int64(len(message) / len(traces)))
	for b.Loop() {
		if counted%(calls*10) == 0 {
			b.StopTimer()
			for i, id := range traces {
				if i%10 == 0 {
					trace++
				}
				binary.BigEndian.PutUint64(id, trace)
			}
			b.StartTimer()
			cpu.Begin()
			if w.Message(message) != nil {
				b.Fatal("malformed")
			}
			l.Apply(w.Batch)
			cpu.End()
		}
		counted++
	}
	cpu.Report(b, counted)
}
