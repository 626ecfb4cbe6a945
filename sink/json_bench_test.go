package main

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// benchmarkJSON counts spans in JSON, fresh trees in every round; count takes one message with all of them.
func benchmarkJSON(b *testing.B, text []byte, key string, count func(text []byte)) {
	const calls = 400
	var traces [][]byte
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte(key))
		if next < 0 {
			break
		}
		at += next + len(key) + 16
		traces = append(traces, text[at:at+16])
	}
	if len(traces) != calls*10 {
		b.Fatalf("%d spans", len(traces))
	}
	trace, counted := uint64(1), 0
	b.SetBytes(int64(len(text) / len(traces)))
	for b.Loop() {
		if counted%(calls*10) == 0 {
			b.StopTimer()
			for i, id := range traces {
				if i%10 == 0 {
					trace++
				}
				copy(id, fmt.Appendf(nil, "%016x", trace))
			}
			b.StartTimer()
			count(text)
		}
		counted++
	}
}

func benchmarkMessages(b *testing.B, text []byte, walks func(string, *ledger) *sync.Pool) {
	l := newLedger(newTreeTable(&spanChain{}, 10, defaultMaxOpenTrees, 384<<20), otlpSignals)
	w := walks(testSpan, l).Get().(*walk)
	benchmarkJSON(b, text, `"traceId":"`, func(text []byte) {
		if w.message(text) != nil {
			b.Fatal("malformed")
		}
		l.apply(w.batch)
	})
}

func BenchmarkZipkinSpan(b *testing.B) {
	benchmarkMessages(b, zipkinList(calls(1, 400, 10)...), newZipkinWalks)
}

func BenchmarkSpanInJSON(b *testing.B) {
	benchmarkMessages(b, otlpJSON(calls(1, 400, 10)...), newOTLPJSONWalks)
}

func BenchmarkElasticEvent(b *testing.B) {
	l := newLedger(newTreeTable(&spanChain{}, 10, defaultMaxOpenTrees, 384<<20), elastic.signals)
	in := newIntakes(testEvent, l, newMessages(1<<20, 4<<20)).Get().(*intake)
	benchmarkJSON(b, []byte(elasticLines(calls(1, 400, 10)...)), `"trace_id":"`, func(text []byte) {
		if err := in.read(bytes.NewReader(text), "", func() {}); err != nil {
			b.Fatal(err)
		}
	})
}
