package otlp

import (
	"bytes"
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
	var traces [][]byte
	for at := 0; ; {
		next := bytes.Index(request[at:], binary.BigEndian.AppendUint64([]byte{0x0a, 16, 0, 0, 0, 0, 0, 0, 0, 0}, 1))
		if next < 0 {
			break
		}
		at += next + 18
		traces = append(traces, request[at-8:at])
	}
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1_000_000, 384<<20), signals)
	walk := newWalk(samples.SpanName, l)
	trace, counted := uint64(1), 0
	var cpu samples.CPUTime
	b.SetBytes(int64(len(request) / len(traces)))
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
			if walk.request(request) != nil {
				b.Fatal("malformed")
			}
			l.Apply(walk.batch)
			cpu.End()
		}
		counted++
	}
	cpu.Report(b, counted)
}

func BenchmarkSpanInJSON(b *testing.B) {
	sinktest.BenchmarkMessages(b, jsonRequest(samples.Calls(1, 400, 10)...), newJSONWalks)
}
