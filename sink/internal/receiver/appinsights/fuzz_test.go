package appinsights

import (
	"bytes"
	"testing"

	"tracetax/sink/internal/samples"
)

func FuzzInsights(f *testing.F) {
	f.Add(itemsOf(samples.CallSpans(1, 3)...))
	f.Add(append(itemsOf(samples.Span{Trace: 1, ID: 2, Name: "other"}, samples.Span{Trace: 1, ID: 1, Parent: 2}), metricItem...))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := count(3, data)
		samples.CheckTrees(t, 3, once)
		if most := int64(bytes.Count(data, []byte("{"))); once.Records+once.Duplicates+once.UnexpectedNames > most {
			t.Fatalf("%q is %+v", data, once)
		}
		twice := count(3, data, data)
		if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
			t.Fatalf("once %+v, twice %+v", once, twice)
		}
	})
}
