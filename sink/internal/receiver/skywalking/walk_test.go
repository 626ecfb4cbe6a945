package skywalking

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

func TestASegmentIsATree(t *testing.T) {
	var segments [][]byte
	for call := range 500 {
		segments = append(segments, segmentBytes(callSegment(call, 10)))
	}
	samples.ExpectCount(t, count(10, segments...), account.Account{Records: 5000, CompleteTrees: 500})
}

func TestTheSpansOfASegmentMayComeInAnyOrder(t *testing.T) {
	s := callSegment(1, 10)
	slices.Reverse(s.spans)
	s.spans[3], s.spans[7] = s.spans[7], s.spans[3]
	samples.ExpectCount(t, count(10, segmentBytes(s)), account.Account{Records: 10, CompleteTrees: 1})
}

func TestTheIdOfASegmentMayStandBehindItsSpans(t *testing.T) {
	fields := segmentFields(callSegment(1, 10))
	slices.Reverse(fields)
	samples.ExpectCount(t, count(10, slices.Concat(fields...)), account.Account{Records: 10, CompleteTrees: 1})
}

func TestSpansOfOneSegmentMayComeInSeveralMessages(t *testing.T) {
	s := callSegment(1, 10)
	first, second := s, s
	first.spans, second.spans = s.spans[:3], s.spans[3:]
	samples.ExpectCount(t, count(10, segmentBytes(first), segmentBytes(second)), account.Account{Records: 10, CompleteTrees: 1})
}

func TestASegmentThatComesAgainIsADuplicate(t *testing.T) {
	segment := segmentBytes(callSegment(1, 10))
	samples.ExpectCount(t, count(10, segment, segment), account.Account{Records: 10, CompleteTrees: 1, Duplicates: 10})
}

func TestASegmentThatLacksASpanIsAPartialTree(t *testing.T) {
	for _, missing := range []struct{ at, orphans int }{{0, 0}, {4, 1}, {9, 1}} {
		s := callSegment(1, 10)
		s.spans = slices.Delete(s.spans, missing.at, missing.at+1)
		samples.ExpectCount(t, count(10, segmentBytes(s)),
			account.Account{Records: 9, PartialTrees: 1, Orphans: int64(missing.orphans)})
	}
}

func TestSpansSideBySideAreNoChain(t *testing.T) {
	s := callSegment(1, 3)
	s.spans[0].parent = 0
	samples.ExpectCount(t, count(3, segmentBytes(s)), account.Account{Records: 3, PartialTrees: 1})
}

func TestASegmentThatHangsOnAnotherOneIsNoWholeTree(t *testing.T) {
	s := callSegment(1, 10)
	s.spans[9].referring = true
	samples.ExpectCount(t, count(10, segmentBytes(s)), account.Account{Records: 10, PartialTrees: 1, Orphans: 1})
}

func TestSegmentsThatAreLimitedInSizeAreTold(t *testing.T) {
	s := callSegment(1, 10)
	s.limited = true
	samples.ExpectCount(t, count(10, segmentBytes(s), segmentBytes(callSegment(2, 10))),
		account.Account{Records: 20, CompleteTrees: 2, LimitedTrees: 1})
}

func TestSegmentSpansOfAnotherOperationAreUnexpectedAndInNoTree(t *testing.T) {
	s := callSegment(1, 10)
	s.spans = append(s.spans, segmentPart{id: 10, parent: 9, operation: "GET:/"}, segmentPart{id: 11, operation: "GET:/"})
	samples.ExpectCount(t, count(10, segmentBytes(s)), account.Account{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 2, Unexpected: map[string]int64{"GET:/": 2},
	})
}

func TestSegmentSpansThatEndBeforeTheyStartAreCounted(t *testing.T) {
	s := segmentMessage{id: "s", spans: []segmentPart{{parent: noParent, start: 2, end: 1}}}
	samples.ExpectCount(t, count(1, segmentBytes(s)), account.Account{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestSegmentSpansWithoutAValidPlaceAreMalformed(t *testing.T) {
	s := callSegment(1, 10)
	s.spans = append(s.spans, segmentPart{id: -1, parent: 3}, segmentPart{id: 10, parent: -2})
	unidentified := segmentMessage{spans: []segmentPart{{parent: noParent}}}
	samples.ExpectCount(t, count(10, segmentBytes(s), segmentBytes(unidentified)),
		account.Account{Records: 10, CompleteTrees: 1, Malformed: 3})
}

func TestASegmentThatIsCutWithinAFieldIsMalformedAndItsWholeSpansCount(t *testing.T) {
	fields := segmentFields(callSegment(1, 10))
	whole, spans := []byte{}, int64(0)
	for _, field := range fields {
		for cut := 1; cut < len(field); cut++ {
			c := count(10, slices.Concat(whole, field[:cut]))
			if c.Malformed != 1 || c.Records != spans {
				t.Fatalf("behind %d spans, cut at %d: %+v", spans, cut, c)
			}
		}
		whole = append(whole, field...)
		if number, _, _ := protowire.ConsumeTag(field); number == segmentSpan {
			spans++
		}
	}
	if spans != 10 {
		t.Errorf("%d spans were passed", spans)
	}
}

func TestUnknownFieldsOfASegmentAreSkipped(t *testing.T) {
	segment := protowire.AppendTag(nil, 9, protowire.StartGroupType)
	segment = protowire.AppendVarint(protowire.AppendTag(segment, 1, protowire.VarintType), 7)
	segment = protowire.AppendTag(segment, 9, protowire.EndGroupType)
	segment = protowire.AppendFixed64(protowire.AppendTag(segment, 3, protowire.Fixed64Type), 7)
	segment = protowire.AppendVarint(protowire.AppendTag(segment, 2, protowire.VarintType), 7)
	segment = append(segment, segmentBytes(callSegment(1, 10))...)
	samples.ExpectCount(t, count(10, segment), account.Account{Records: 10, CompleteTrees: 1})
}

func TestTheSegmentWalkAllocatesNothingPerSpan(t *testing.T) {
	segment := segmentBytes(callSegment(1, 300))
	l := ledger.New(tree.NewTable(Protocol.Structure(), 300, 1000, 8<<20), Protocol.Signals)
	walk := newWalk(samples.SpanName, testSeeds, l)
	count := func() {
		if err := walk.segment(segment); err != nil {
			t.Fatal(err)
		}
		l.Apply(walk.batch)
	}
	count()
	if allocations := testing.AllocsPerRun(20, count); allocations > 1 {
		t.Errorf("%v allocations for a segment of 300 spans", allocations)
	}
}
