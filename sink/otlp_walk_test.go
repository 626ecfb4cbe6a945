package main

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func TestEverySpanIsCountedExactly(t *testing.T) {
	var spans []span
	for trace := range uint64(500) {
		spans = append(spans, callSpans(trace+1, 10)...)
	}
	expectCount(t, countSpans(10, exportRequest(spans...)), protocolCount{Records: 5000, CompleteTrees: 500})
}

func TestATreeMaySpreadOverRequests(t *testing.T) {
	spans := callSpans(1, 10)
	expectCount(t, countSpans(10, exportRequest(spans[:3]...), exportRequest(spans[3:]...)),
		protocolCount{Records: 10, CompleteTrees: 1})
}

func TestSpansOfAnotherNameAreUnexpectedAndInNoTree(t *testing.T) {
	spans := append(callSpans(1, 10), span{trace: 1, id: 99, name: "GET /"}, span{trace: 1, id: 98, name: "GET /"})
	expectCount(t, countSpans(10, exportRequest(spans...)), protocolCount{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 2, Unexpected: map[string]int64{"GET /": 2},
	})
}

func TestSpansThatEndBeforeTheyStartAreCounted(t *testing.T) {
	expectCount(t, countSpans(1, exportRequest(span{trace: 1, id: 1, start: 2, end: 1})),
		protocolCount{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestASpanWithoutValidIdsIsMalformed(t *testing.T) {
	expectCount(t, countSpans(10, exportRequest(append(callSpans(1, 10), span{trace: 0, id: 1}, span{trace: 1, id: 0})...)),
		protocolCount{Records: 10, CompleteTrees: 1, Malformed: 2})
}

func TestAParentOfZerosIsNoParent(t *testing.T) {
	zero := protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), make([]byte, 8))
	l := newLedger(newTreeTable(&spanChain{}, 1, 10, 1<<20), otlpSignals)
	walk := newSpanWalk(testSpan, l)
	if err := walk.span(append(spanBytes(span{trace: 1, id: 1}), zero...)); err != nil {
		t.Fatal(err)
	}
	l.apply(walk.batch)
	expectCount(t, l.close(), protocolCount{Records: 1, CompleteTrees: 1})
}

func TestATruncatedRequestIsMalformedAndItsWholeSpansCount(t *testing.T) {
	request := exportRequest(callSpans(1, 10)...)
	for cut := 1; cut < len(request); cut++ {
		c := countSpans(10, request[:cut])
		if c.Malformed != 1 {
			t.Fatalf("cut at %d: %+v", cut, c)
		}
	}
}

func TestUnknownFieldsAndGroupsAreSkipped(t *testing.T) {
	request := protowire.AppendTag(nil, 9, protowire.StartGroupType)
	request = protowire.AppendVarint(protowire.AppendTag(request, 1, protowire.VarintType), 7)
	request = protowire.AppendTag(request, 9, protowire.EndGroupType)
	request = protowire.AppendFixed64(protowire.AppendTag(request, 2, protowire.Fixed64Type), 7)
	request = append(request, exportRequest(callSpans(1, 10)...)...)
	expectCount(t, countSpans(10, request), protocolCount{Records: 10, CompleteTrees: 1})
}

func TestGarbageIsMalformed(t *testing.T) {
	for _, garbage := range []string{"\x00\x00", "\x0a\x05abc", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x0c", "GET / HTTP/1.1"} {
		expectCount(t, countSpans(10, []byte(garbage)), protocolCount{Malformed: 1})
	}
}

func TestTheWalkAllocatesNothingPerSpan(t *testing.T) {
	var spans []span
	for trace := range uint64(100) {
		spans = append(spans, callSpans(trace+1, 10)...)
	}
	request := exportRequest(spans...)
	l := newLedger(newTreeTable(&spanChain{}, 10, 1000, 8<<20), otlpSignals)
	walk := newSpanWalk(testSpan, l)
	count := func() {
		if err := walk.request(request); err != nil {
			t.Fatal(err)
		}
		l.apply(walk.batch)
	}
	count()
	if allocations := testing.AllocsPerRun(20, count); allocations > 5 {
		t.Errorf("%v allocations for %d spans", allocations, len(spans))
	}
}
