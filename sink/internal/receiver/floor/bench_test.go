package floor

import (
	"testing"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

const benchDepth = 10

func BenchmarkWholeTrees(b *testing.B) {
	w := newWriter(methodName)
	w.records(0, chain(1<<40, benchDepth, 0)...)
	begin := len(w.data)
	last := w.threads[0]
	var trees []byte
	for number := range uint64(1000) {
		for _, e := range chain(1<<40+1+number, benchDepth, 1000*(number+1)) {
			trees = last.append(trees, e)
		}
	}
	w.frame(frameOfRecords, 0, trees)
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, benchDepth, 1000, 64<<20), nil)
	s, batch := newStream(samples.Method), ledger.NewBatch(ledger.BatchRecords)
	s.consume(append([]byte(nil), w.data[:begin]...), batch, l)
	frame := w.data[begin:]
	b.ResetTimer()
	for range b.N {
		s.consume(frame, batch, l)
		l.Apply(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000/benchDepth, "ns/record")
}
