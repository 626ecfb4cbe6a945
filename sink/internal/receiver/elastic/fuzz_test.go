package elastic

import (
	"bytes"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/samples"
)

func FuzzElastic(f *testing.F) {
	f.Add([]byte(metadataLine+linesOf(samples.CallSpans(1, 3)...)+metricLine), uint16(57))
	f.Add([]byte(`{"span":{"name":"`+testEvent+`","composite":{"count":3}}}`+"\nx\n\n"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := count(3, len(data)+1, data)
		cut := count(3, int(piece)+1, data)
		if whole.Bytes+sum(whole.OtherBytes) != int64(len(data)) || cut.Bytes != whole.Bytes {
			t.Fatalf("%d bytes are %+v, in pieces %+v", len(data), whole, cut)
		}
		if lines := int64(bytes.Count(data, []byte("\n")) + 1); whole.Malformed > lines || whole.Records > lines*maxComposite {
			t.Fatalf("%d lines are %+v", lines, whole)
		}
		samples.ExpectCount(t, cut, account.Account{
			Records: whole.Records, CompleteTrees: whole.CompleteTrees, PartialTrees: whole.PartialTrees, Orphans: whole.Orphans,
			Duplicates: whole.Duplicates, UnexpectedNames: whole.UnexpectedNames, Malformed: whole.Malformed,
			EvictedTrees: whole.EvictedTrees, EvictedRecords: whole.EvictedRecords, ReportedDrops: whole.ReportedDrops,
			LimitedTrees: whole.LimitedTrees, LimitedRecords: whole.LimitedRecords,
			OtherBytes: whole.OtherBytes, Unexpected: whole.Unexpected,
		})
	})
}

func sum(bytes map[string]int64) (sum int64) {
	for _, n := range bytes {
		sum += n
	}
	return sum
}
