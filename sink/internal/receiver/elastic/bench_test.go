package elastic

import (
	"bytes"
	"testing"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

func BenchmarkElasticEvent(b *testing.B) {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1_000_000, 384<<20), Protocol.Signals)
	in := newIntakes(testEvent, l, message.NewMemory(1<<20, 4<<20)).Get().(*intake)
	sinktest.BenchmarkJSON(b, []byte(linesOf(samples.Calls(1, 400, 10)...)), `"trace_id":"`, func(text []byte) {
		if err := in.read(bytes.NewReader(text), "", func() {}); err != nil {
			b.Fatal(err)
		}
	})
}
