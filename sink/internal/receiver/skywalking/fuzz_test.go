package skywalking

import (
	"testing"

	"tracetax/sink/internal/samples"
)

func FuzzSkyWalking(f *testing.F) {
	f.Add(segmentBytes(callSegment(1, 3)))
	limited := callSegment(2, 4)
	limited.limited = true
	f.Add(segmentBytes(limited))
	f.Add(segmentBytes(segmentMessage{id: "s", spans: []segmentPart{
		{id: 2, parent: 1, operation: "GET:/"}, {id: -1, parent: -2}, {parent: noParent, start: 3, end: 1, referring: true},
	}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := count(3, data)
		samples.CheckTrees(t, 3, once)
		if once.LimitedTrees > 1 {
			t.Fatalf("one message is %+v", once)
		}
		twice := count(3, data, data)
		// A span that comes again is a duplicate, unless its tree was evicted.
		if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
			t.Fatalf("once %+v, twice %+v", once, twice)
		}
	})
}
