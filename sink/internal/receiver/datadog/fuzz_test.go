package datadog

import (
	"testing"

	"tracetax/sink/internal/samples"
)

func FuzzDatadog(f *testing.F) {
	for _, format := range formats {
		f.Add(format.write(samples.CallSpans(1, 3), samples.CallSpans(2, 3)))
		f.Add(format.write([]samples.Span{{Trace: 1, ID: 2, Name: "other"}, {Trace: 1, ID: 1, Start: 3}}))
	}
	f.Add([]byte{mpArray | 1, mpArray32, 0xff, 0xff, 0xff, 0xff, mpMap32})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range formats {
			once := count(3, format.read, data)
			samples.CheckTrees(t, 3, once)
			// Each span takes at least a byte.
			if all := once.Records + once.UnexpectedNames + once.Duplicates; all > int64(len(data)) {
				t.Fatalf("%d bytes are %+v", len(data), once)
			}
			twice := count(3, format.read, data, data)
			if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
				t.Fatalf("once %+v, twice %+v", once, twice)
			}
		}
	})
}
