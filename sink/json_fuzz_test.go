package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzJSON(f *testing.F) {
	f.Add([]byte(` {"a":[1,-2.5e+3,true,null,"\u00e9\ud83d\ude00\n"],"b":{}} `))
	f.Add([]byte(`[["\\",""],0]x`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := jsonScan{data: bytes.Clone(text)}
		s.skip()
		if ended := s.ended(); ended != json.Valid(text) && !nestsDeep(text) {
			t.Fatalf("%q: %v", text, ended)
		}
		var want string
		// encoding/json replaces what is no UTF-8, the scan leaves it alone.
		if json.Unmarshal(text, &want) == nil && utf8.Valid(text) {
			s := jsonScan{data: bytes.Clone(text)}
			if got := string(s.text()); got != want {
				t.Fatalf("%q is %q, not %q", text, got, want)
			}
		}
		n := jsonScan{data: bytes.Clone(text)}
		if value, ok := n.natural(); ok && n.ended() {
			var want uint64
			if json.Unmarshal(bytes.Trim(text, "\" \n\r\t"), &want) == nil && value != want {
				t.Fatalf("%q is %d", text, value)
			}
		}
	})
}

// nestsDeep says that there are more brackets than may lie in one another.
func nestsDeep(text []byte) bool {
	return bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxNesting
}

func FuzzZipkin(f *testing.F) {
	f.Add(zipkinList(callSpans(1, 3)...))
	f.Add(zipkinList(span{trace: 1, id: 2, name: "other"}, span{trace: 1, id: 1, parent: 2}))
	f.Fuzz(func(t *testing.T, data []byte) { checkMessage(t, data, countZipkin) })
}

func FuzzOTLPJSON(f *testing.F) {
	f.Add(otlpJSON(callSpans(1, 3)...))
	f.Add(otlpJSON(span{trace: 1, id: 2, name: "other"}, span{trace: 1, id: 1, start: 3}))
	f.Fuzz(func(t *testing.T, data []byte) { checkMessage(t, data, countOTLPJSON) })
}

// checkMessage counts a message once and twice: a span that comes again is a duplicate, unless its tree was evicted.
func checkMessage(t *testing.T, data []byte, count func(depth int, messages ...[]byte) protocolCount) {
	t.Helper()
	once := count(3, data)
	checkTrees(t, 3, once)
	if once.Malformed == 0 && !json.Valid(data) {
		t.Fatalf("%q is taken", data)
	}
	twice := count(3, data, data)
	if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
		t.Fatalf("once %+v, twice %+v", once, twice)
	}
}

func FuzzElastic(f *testing.F) {
	f.Add([]byte(metadataLine+elasticLines(callSpans(1, 3)...)+metricLine), uint16(57))
	f.Add([]byte(`{"span":{"name":"`+testEvent+`","composite":{"count":3}}}`+"\nx\n\n"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := countElastic(3, len(data)+1, data)
		cut := countElastic(3, int(piece)+1, data)
		if whole.Bytes+sum(whole.OtherBytes) != int64(len(data)) || cut.Bytes != whole.Bytes {
			t.Fatalf("%d bytes are %+v, in pieces %+v", len(data), whole, cut)
		}
		if lines := int64(bytes.Count(data, []byte("\n")) + 1); whole.Malformed > lines || whole.Records > lines*maxComposite {
			t.Fatalf("%d lines are %+v", lines, whole)
		}
		expectCount(t, cut, protocolCount{
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
