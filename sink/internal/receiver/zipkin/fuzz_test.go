package zipkin

import (
	"testing"

	"tracetax/sink/internal/samples"
)

func FuzzZipkin(f *testing.F) {
	f.Add(listOf(samples.CallSpans(1, 3)...))
	f.Add(listOf(samples.Span{Trace: 1, ID: 2, Name: "other"}, samples.Span{Trace: 1, ID: 1, Parent: 2}))
	f.Fuzz(func(t *testing.T, data []byte) { samples.CheckMessage(t, data, count) })
}
