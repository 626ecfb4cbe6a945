package zipkin

import (
	"testing"

	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
)

func BenchmarkZipkinSpan(b *testing.B) {
	sinktest.BenchmarkMessages(b, listOf(samples.Calls(1, 400, 10)...), newWalks)
}
