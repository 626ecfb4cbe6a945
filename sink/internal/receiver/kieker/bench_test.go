package kieker

import (
	"encoding/binary"
	"testing"

	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

// The benchmarks count fresh trees in every round, as a run does: the trace ids are rewritten between the rounds.
// Beside the time that passes they report CPU time, which other programs disturb less.

func BenchmarkKiekerRecord(b *testing.B) {
	const calls = 400
	w := samples.NewKiekerWriter()
	w.Call(0, 10)
	head := len(w.Data)
	for trace := range int64(calls) {
		w.Call(trace, 10)
	}
	data := w.Data[head:]
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, 10, 1_000_000, 384<<20), nil)
	stream, batch := newStream(samples.Method), ledger.NewBatch(readBytes/executionBytes)
	stream.Consume(append([]byte(nil), w.Data[:head]...), batch)
	trace, counted := uint64(1000), 0
	var cpu samples.CPUTime
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
			cpu.Begin()
			stream.Consume(data, batch)
			l.Apply(batch)
			cpu.End()
		}
		counted++
	}
	cpu.Report(b, counted)
}

// BenchmarkKiekerFileRecord reads a log of 100,000 records from files, as it lies in the page cache.
func BenchmarkKiekerFileRecord(b *testing.B) {
	for _, p := range []protocol.Protocol{BinaryFile, TextFile} {
		b.Run(p.Files.Extension, func(b *testing.B) {
			const calls = 10_000
			log := newLogWriter(b, p.Files)
			for trace := range int64(calls) {
				log.call(trace, 10)
			}
			folder, err := files.Open(log.end(), p.Files)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(log.bytes() / (calls * 10))
			for counted := 0; b.Loop(); counted++ {
				if counted%(calls*10) == 0 {
					l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, 10, 1_000_000, 64<<20), nil)
					reader := files.NewReader(samples.Method, p.Files, l)
					if err := reader.Read(folder, files.Edge{Records: 1 << 40}); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkKiekerEvents pairs the events of fresh trees: what one record costs, which is two events.
func BenchmarkKiekerEvents(b *testing.B) {
	const calls, depth = 400, 10
	w := samples.NewPythonWriter()
	w.FlowCall(0, depth)
	head := len(w.Data)
	for trace := range int64(calls) {
		w.FlowCall(trace, depth)
	}
	data := w.Data[head:]
	const callBytes = traceBytes + 2*depth*operationBytes
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, depth, 1_000_000, 384<<20), nil)
	stream, batch := newStream(samples.Method), ledger.NewBatch(readBytes/executionBytes)
	stream.Consume(append([]byte(nil), w.Data[:head]...), batch)
	trace, counted := uint64(1000), 0
	var cpu samples.CPUTime
	b.SetBytes(callBytes / depth)
	for b.Loop() {
		if counted%(calls*depth) == 0 {
			b.StopTimer()
			for at := 0; at < len(data); at += callBytes {
				trace++
				for event := range 2 * depth {
					binary.BigEndian.PutUint64(data[at+traceBytes+event*operationBytes+20:], trace)
				}
			}
			b.StartTimer()
			cpu.Begin()
			stream.Consume(data, batch)
			l.Apply(batch)
			cpu.End()
		}
		counted++
	}
	cpu.Report(b, counted)
	if account := l.Close(); account.PartialTrees > 1 {
		b.Fatalf("counted %+v", account)
	}
}
