package main

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"testing"
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
	l := newLedger(newTreeTable(&outerFirst{}, 10, defaultMaxOpenTrees, 384<<20), datadog.signals)
	w := newDatadogWalks(testSpan, l, (*datadogWalk).mapped).Get().(*walk)
	w.headers(http.Header{})
	trace, counted := uint64(1), 0
	var cpu cpuTime
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
			cpu.begin()
			if w.message(message) != nil {
				b.Fatal("malformed")
			}
			l.apply(w.batch)
			cpu.end()
		}
		counted++
	}
	cpu.report(b, counted)
}
