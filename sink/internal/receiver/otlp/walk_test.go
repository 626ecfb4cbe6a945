package otlp

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

func TestEverySpanIsCountedExactly(t *testing.T) {
	var spans []samples.Span
	for trace := range uint64(500) {
		spans = append(spans, samples.CallSpans(trace+1, 10)...)
	}
	samples.ExpectCount(t, countSpans(10, samples.ExportRequest(spans...)), account.Account{Records: 5000, CompleteTrees: 500})
}

func TestATreeMaySpreadOverRequests(t *testing.T) {
	spans := samples.CallSpans(1, 10)
	samples.ExpectCount(t, countSpans(10, samples.ExportRequest(spans[:3]...), samples.ExportRequest(spans[3:]...)),
		account.Account{Records: 10, CompleteTrees: 1})
}

func TestSpansOfAnotherNameAreUnexpectedAndInNoTree(t *testing.T) {
	spans := append(samples.CallSpans(1, 10), samples.Span{Trace: 1, ID: 99, Name: "GET /"}, samples.Span{Trace: 1, ID: 98, Name: "GET /"})
	samples.ExpectCount(t, countSpans(10, samples.ExportRequest(spans...)), account.Account{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 2, Unexpected: map[string]int64{"GET /": 2},
	})
}

func TestAnyNameIsExpectedWhereNoneIsNamed(t *testing.T) {
	spans := []samples.Span{{Trace: 1, ID: 1, Name: "GET /"}, {Trace: 1, ID: 2, Parent: 1, Name: "SELECT"}}
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 2, 10, 1<<20), signals)
	walk := newWalk(ledger.AnyName, l)
	if err := walk.request(samples.ExportRequest(spans...)); err != nil {
		t.Fatal(err)
	}
	l.Apply(walk.batch)
	samples.ExpectCount(t, l.Close(), account.Account{Records: 2, CompleteTrees: 1})
}

func TestSpansThatEndBeforeTheyStartAreCounted(t *testing.T) {
	samples.ExpectCount(t, countSpans(1, samples.ExportRequest(samples.Span{Trace: 1, ID: 1, Start: 2, End: 1})),
		account.Account{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestASpanWithoutValidIdsIsMalformed(t *testing.T) {
	samples.ExpectCount(t, countSpans(10, samples.ExportRequest(append(samples.CallSpans(1, 10), samples.Span{Trace: 0, ID: 1}, samples.Span{Trace: 1, ID: 0})...)),
		account.Account{Records: 10, CompleteTrees: 1, Malformed: 2})
}

func TestAParentOfZerosIsNoParent(t *testing.T) {
	zero := protowire.AppendBytes(protowire.AppendTag(nil, 4, protowire.BytesType), make([]byte, 8))
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 1, 10, 1<<20), signals)
	walk := newWalk(samples.SpanName, l)
	if err := walk.span(append(samples.SpanBytes(samples.Span{Trace: 1, ID: 1}), zero...)); err != nil {
		t.Fatal(err)
	}
	l.Apply(walk.batch)
	samples.ExpectCount(t, l.Close(), account.Account{Records: 1, CompleteTrees: 1})
}

func TestATruncatedRequestIsMalformedAndItsWholeSpansCount(t *testing.T) {
	request := samples.ExportRequest(samples.CallSpans(1, 10)...)
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
	request = append(request, samples.ExportRequest(samples.CallSpans(1, 10)...)...)
	samples.ExpectCount(t, countSpans(10, request), account.Account{Records: 10, CompleteTrees: 1})
}

func TestGarbageIsMalformed(t *testing.T) {
	for _, garbage := range []string{"\x00\x00", "\x0a\x05abc", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x0c", "GET / HTTP/1.1"} {
		samples.ExpectCount(t, countSpans(10, []byte(garbage)), account.Account{Malformed: 1})
	}
}

func TestTheWalkAllocatesNothingPerSpan(t *testing.T) {
	var spans []samples.Span
	for trace := range uint64(100) {
		spans = append(spans, samples.CallSpans(trace+1, 10)...)
	}
	request := samples.ExportRequest(spans...)
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1000, 8<<20), signals)
	walk := newWalk(samples.SpanName, l)
	count := func() {
		if err := walk.request(request); err != nil {
			t.Fatal(err)
		}
		l.Apply(walk.batch)
	}
	count()
	if allocations := testing.AllocsPerRun(20, count); allocations > 5 {
		t.Errorf("%v allocations for %d spans", allocations, len(spans))
	}
}

func TestRecordsAreCountedByTheScopeThatMadeThem(t *testing.T) {
	spans := samples.CallSpans(1, 3)
	for name, got := range map[string]account.Account{
		"protobuf": countSpans(3, samples.ExportRequest(spans...), samples.ExportRequest(spans[:1]...)),
		"JSON":     countJSONSpans(3, jsonRequest(spans...), jsonRequest(spans[:1]...)),
	} {
		if len(got.Scopes) != 1 || got.Scopes["x"] != 4 {
			t.Errorf("%s: %v", name, got.Scopes)
		}
	}
}

func TestAScopeMayStandBehindItsSpansAndNeedsNoName(t *testing.T) {
	span := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), samples.SpanBytes(samples.Span{Trace: 1, ID: 1}))
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 1, 10, 1<<20), signals)
	walk := newWalk(samples.SpanName, l)
	for _, scope := range [][]byte{{0x0a, 1, 'y'}, {}} {
		if err := walk.spans(protowire.AppendBytes(protowire.AppendTag(span, 1, protowire.BytesType), scope)); err != nil {
			t.Fatal(err)
		}
	}
	l.Apply(walk.batch)
	if got := l.Close(); len(got.Scopes) != 1 || got.Scopes["y"] != 1 {
		t.Error(got.Scopes)
	}
	if got := l.Close(); len(got.Scopes) != 0 {
		t.Errorf("those of the account before: %v", got.Scopes)
	}
}
