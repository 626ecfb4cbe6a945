package floor

import (
	"testing"

	"tracetax/sink/internal/samples"
)

func FuzzFloor(f *testing.F) {
	w := newWriter(methodName, otherName)
	w.records(0, chain(1<<40+1, testDepth, 0)...)
	w.records(1, execution{trace: 2 << 40, method: 1, order: 4, depth: 2, start: 7, end: 3})
	f.Add(w.data, uint16(5))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := count(data, 1<<20)
		if most := int64(len(data)); whole.Records+whole.Duplicates > most {
			t.Fatalf("%d bytes are %+v", len(data), whole)
		}
		samples.CheckTrees(t, testDepth, whole)
		samples.ExpectCount(t, count(data, int(piece)+1), whole)
	})
}
