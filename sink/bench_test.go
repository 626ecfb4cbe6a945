package main

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// The benchmarks count fresh trees in every round, as a run does: the trace ids are rewritten between the rounds.
// Beside the time that passes they report CPU time, which other programs disturb less.

func BenchmarkKiekerRecord(b *testing.B) {
	const calls = 400
	w := newKiekerWriter()
	w.call(0, 10)
	head := len(w.data)
	for trace := range int64(calls) {
		w.call(trace, 10)
	}
	data := w.data[head:]
	l := newLedger(newTreeTable(&executionChain{}, 10, defaultMaxOpenTrees, 384<<20), nil)
	stream, batch := newKiekerStream(testMethod), newBatch(kiekerReadBytes/executionBytes)
	stream.consume(append([]byte(nil), w.data[:head]...), batch)
	trace, counted := uint64(1000), 0
	var cpu cpuTime
	b.SetBytes(executionBytes)
	for b.Loop() {
		if counted%(calls*10) == 0 {
			b.StopTimer()
			for at := 0; at < len(data); at += executionBytes {
				if at%(10*executionBytes) == 0 {
					trace++
				}
				binary.BigEndian.PutUint64(data[at+20:], trace)
			}
			b.StartTimer()
			cpu.begin()
			stream.consume(data, batch)
			l.apply(batch)
			cpu.end()
		}
		counted++
	}
	cpu.report(b, counted)
}

func BenchmarkSpan(b *testing.B) {
	const calls = 400
	var spans []span
	for range uint64(calls) {
		spans = append(spans, callSpans(1, 10)...)
	}
	request := exportRequest(spans...)
	var traces [][]byte
	for at := 0; ; {
		next := bytes.Index(request[at:], binary.BigEndian.AppendUint64([]byte{0x0a, 16, 0, 0, 0, 0, 0, 0, 0, 0}, 1))
		if next < 0 {
			break
		}
		at += next + 18
		traces = append(traces, request[at-8:at])
	}
	l := newLedger(newTreeTable(&spanChain{}, 10, defaultMaxOpenTrees, 384<<20), otlpSignals)
	walk := newSpanWalk(testSpan, l)
	trace, counted := uint64(1), 0
	var cpu cpuTime
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
			cpu.begin()
			if walk.request(request) != nil {
				b.Fatal("malformed")
			}
			l.apply(walk.batch)
			cpu.end()
		}
		counted++
	}
	cpu.report(b, counted)
}

// cpuTime adds up the CPU time of the counted parts.
type cpuTime struct{ sum, before int64 }

func (c *cpuTime) begin() { c.before = cpuNs() }
func (c *cpuTime) end()   { c.sum += cpuNs() - c.before }

func (c *cpuTime) report(b *testing.B, records int) {
	b.ReportMetric(float64(c.sum)/float64(records), "cpu-ns/op")
}
