package kieker

import (
	_ "embed"
	"fmt"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

// events writes events of trace 1 as a word: < begins, > ends, ! fails; a space is an event that was lost.
func events(word string) []byte {
	w := samples.NewPythonWriter()
	w.Trace(1)
	for i, c := range word {
		kind, is := map[rune]string{'<': samples.BeforeOperation, '>': samples.AfterOperation, '!': samples.FailedOperation}[c]
		if is {
			w.Event(samples.Event{Kind: kind, Trace: 1, Index: int32(i + 1), Time: int64(i)})
		}
	}
	return w.Data
}

func TestAPairOfEventsIsARecordAndANestOfThemATree(t *testing.T) {
	w := samples.NewPythonWriter()
	for trace := range int64(500) {
		w.FlowCall(trace, 10)
	}
	samples.ExpectCount(t, count(10, w.Data), account.Account{Records: 5000, CompleteTrees: 500})
}

// What kieker-monitoring-for-python 0.0.2 wrote in Python 3.11 for three calls of depth 3, of which the last one failed with
// ValueError("größer"), and for a call of another method.
//
//go:embed testdata/python-0.0.2.stream
var pythonStream []byte

func TestWhatKiekerForPythonWritesIsRead(t *testing.T) {
	samples.ExpectCount(t, count(3, pythonStream), account.Account{
		Records: 9, CompleteTrees: 3, UnexpectedNames: 1, Unexpected: map[string]int64{"demo.MonitoredClass.other": 1},
	})
}

func TestWhatKiekerForPythonWritesIsTheSameInAnyPieces(t *testing.T) {
	r := start(t)
	conn := r.Dial("kieker-tcp")
	for _, b := range pythonStream {
		sinktest.Write(t, conn, []byte{b})
	}
	conn.Close()
	r.Await("ended", func(c sink.Counts) bool { return c.Records == 9 && c.OpenConnections == 0 })
	samples.ExpectCount(t, r.Stop().Protocols["kieker-tcp"], account.Account{
		Records: 9, PartialTrees: 3, UnexpectedNames: 1, Unexpected: map[string]int64{"demo.MonitoredClass.other": 1},
	})
}

func TestWhatHasNotEndedIsToldWhenItsConnectionEnds(t *testing.T) {
	r := start(t)
	conn := r.Dial("kieker-tcp")
	sinktest.Write(t, conn, events("<<<"))
	conn.Close()
	r.Await("read", func(c sink.Counts) bool { return c.Bytes == int64(len(events("<<<"))) && c.OpenConnections == 0 })
	samples.ExpectCount(t, r.Stop().Protocols["kieker-tcp"], account.Account{
		UnexpectedNames: 3, Unexpected: map[string]int64{endless: 3},
	})
}

func TestEventsNumberedFromZeroAreTheSame(t *testing.T) {
	w := samples.NewPythonWriter()
	for i, kind := range []string{samples.BeforeOperation, samples.BeforeOperation, samples.AfterOperation, samples.AfterOperation} {
		w.Event(samples.Event{Kind: kind, Trace: 1, Index: int32(i)})
	}
	samples.ExpectCount(t, count(2, w.Data), account.Account{Records: 2, CompleteTrees: 1})
}

func TestEventsOfTracesMayComeInterleaved(t *testing.T) {
	w := samples.NewPythonWriter()
	const traces = 100
	for i := range int32(20) {
		kind := samples.BeforeOperation
		if i >= 10 {
			kind = samples.AfterOperation
		}
		for trace := range int64(traces) {
			w.Event(samples.Event{Kind: kind, Trace: trace, Index: i + 1})
		}
	}
	samples.ExpectCount(t, count(10, w.Data), account.Account{Records: 10 * traces, CompleteTrees: traces})
}

func TestAnExecutionThatFailsIsARecord(t *testing.T) {
	samples.ExpectCount(t, count(3, events("<<<!!!")), account.Account{Records: 3, CompleteTrees: 1})
}

func TestWhatIsNoChainOfTheDepthIsAPartialTree(t *testing.T) {
	for word, expected := range map[string]account.Account{
		"<<>>":     {Records: 2, PartialTrees: 1},
		"<<<<>>>>": {Records: 4, PartialTrees: 1},
		"<<><>>":   {Records: 3, PartialTrees: 1},
		"<><><>":   {Records: 3, PartialTrees: 1},
	} {
		t.Run(word, func(t *testing.T) { samples.ExpectCount(t, count(3, events(word)), expected) })
	}
}

func TestEventsWithoutTheirCounterpartAreToldAndTheTreeIsPartial(t *testing.T) {
	for word, expected := range map[string]account.Account{
		"<<< >>":  {Records: 2, PartialTrees: 1, Unexpected: map[string]int64{endless: 1}},
		"<<<>> ":  {Records: 2, PartialTrees: 1, Orphans: 1, Unexpected: map[string]int64{endless: 1}},
		" <<>>>":  {Records: 2, PartialTrees: 1, Unexpected: map[string]int64{beginless: 1}},
		"<<<":     {Unexpected: map[string]int64{endless: 3}},
		">>>":     {Unexpected: map[string]int64{beginless: 3}},
		"   >>>":  {Unexpected: map[string]int64{beginless: 3}},
		"<<  >>":  {Records: 2, PartialTrees: 1},
		"<<    >": {Records: 1, PartialTrees: 1, Orphans: 1, Unexpected: map[string]int64{endless: 1}},
	} {
		t.Run(word, func(t *testing.T) {
			for _, times := range expected.Unexpected {
				expected.UnexpectedNames += times
			}
			samples.ExpectCount(t, count(3, events(word)), expected)
		})
	}
}

func TestAnEndThatComesBeforeItsBeginningInTimeIsTold(t *testing.T) {
	w := samples.NewPythonWriter()
	w.Event(samples.Event{Kind: samples.BeforeOperation, Index: 1, Time: 5})
	w.Event(samples.Event{Kind: samples.AfterOperation, Index: 2, Time: 4})
	samples.ExpectCount(t, count(1, w.Data), account.Account{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestOneEventAloneOfAnotherMethodDoesNotEndAnExecution(t *testing.T) {
	w := samples.NewPythonWriter()
	w.Event(samples.Event{Kind: samples.BeforeOperation, Index: 1})
	w.Event(samples.Event{Kind: samples.AfterOperation, Index: 2, Operation: "other"})
	samples.ExpectCount(t, count(1, w.Data), account.Account{
		UnexpectedNames: 2, Unexpected: map[string]int64{endless: 1, beginless: 1},
	})
}

func TestAPairOfAnotherMethodIsAnUnexpectedName(t *testing.T) {
	for _, operation := range []string{"other", "public void demo.Other.run(int)"} {
		w := samples.NewPythonWriter()
		w.FlowCall(1, 2)
		w.Event(samples.Event{Kind: samples.BeforeOperation, Trace: 2, Index: 1, Operation: operation})
		w.Event(samples.Event{Kind: samples.AfterOperation, Trace: 2, Index: 2, Operation: operation})
		name := map[string]string{"other": "demo.MonitoredClass.other"}[operation]
		if name == "" {
			name = operation
		}
		samples.ExpectCount(t, count(2, w.Data), account.Account{
			Records: 2, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{name: 1},
		})
	}
}

func TestAMethodIsNamedByItsClassAndItself(t *testing.T) {
	for _, c := range []struct {
		class, operation, name string
		is                     bool
	}{
		{"a.B", "run", "a.B.run", true},
		{"x.a.B", "run", "a.B.run", true},
		{"B", "run", "B.run", true},
		{"a.B", "run", "run", true},
		{"xa.B", "run", "a.B.run", false},
		{"a.B", "rerun", "run", false},
		{"a.B", "run", "B.rerun", false},
		{"a", "run", "a.B.run", false},
		{"a.B", "", "a.B.run", false},
		{"", "run", "a.B.run", false},
		{"", "", "a.B.run", false},
	} {
		if namesOperation([]byte(c.class), []byte(c.operation), c.name) != c.is {
			t.Errorf("%+v is judged otherwise", c)
		}
	}
}

func TestAWholeSignatureNamesTheMethodOfAnEvent(t *testing.T) {
	w := samples.NewKiekerWriter()
	w.Event(samples.Event{Kind: samples.BeforeOperation, Trace: 1, Index: 0, Operation: samples.Signature})
	w.Event(samples.Event{Kind: samples.AfterOperation, Trace: 1, Index: 1, Operation: samples.Signature})
	samples.ExpectCount(t, count(1, w.Data), account.Account{Records: 1, CompleteTrees: 1})
}

func TestEventsOfAStringThatWasNeverRegisteredAreMalformed(t *testing.T) {
	for _, text := range []string{"monitoredMethod", "demo.MonitoredClass"} {
		w := samples.NewPythonWriter()
		w.Ids[text] = 5000
		w.FlowCall(1, 2)
		samples.ExpectCount(t, count(2, w.Data), account.Account{Malformed: 1})
	}
}

func TestNamesOutsideASCIIAreReadByTheirBytesWhereTheStreamHasNoMetadata(t *testing.T) {
	w := samples.NewPythonWriter()
	w.Trace(1)
	text := "Größe.日本"
	id := int32(len(w.Ids))
	w.Int32(-1)
	w.Int32(id)
	w.Int32(int32(len(text)))
	w.Data = append(w.Data, text...)
	w.Ids[text] = id
	w.Event(samples.Event{Kind: samples.BeforeOperation, Trace: 1, Index: 1, Class: text})
	w.Event(samples.Event{Kind: samples.AfterOperation, Trace: 1, Index: 2, Class: text})
	w.FlowCall(2, 2)
	name := text + ".monitoredMethod"
	samples.ExpectCount(t, count(2, w.Data), account.Account{
		Records: 2, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{name: 1},
	})
}

func TestMoreBeginningsThanAStreamMayHaveAreToldAllTogether(t *testing.T) {
	p, b := pairs{}, ledger.NewBatch(0)
	for i := range int32(maxBegun) {
		p.begin(event{trace: uint64(i % 3), index: i}, b)
	}
	if len(b.Unexpected) != 0 {
		t.Fatalf("told %v", b.Unexpected.Plain())
	}
	p.begin(event{trace: 7, index: 1}, b)
	if _, paired := p.end(event{trace: 7, index: 2}, b); !paired || *b.Unexpected[endless] != maxBegun {
		t.Errorf("paired %v, told %v", paired, b.Unexpected.Plain())
	}
	if _, paired := p.end(event{trace: 1, index: maxBegun}, b); paired || p.open != 0 || p.used > 1 {
		t.Errorf("paired %v, %d open", paired, p.open)
	}
}

func TestBeginningsOfMoreTracesThanAStreamMayHaveAreToldAllTogether(t *testing.T) {
	p, b := pairs{}, ledger.NewBatch(0)
	for trace := range uint64(maxTraces + 1) {
		p.begin(event{trace: trace, index: 1}, b)
	}
	if len(b.Unexpected) != 0 {
		t.Fatalf("told %v", b.Unexpected.Plain())
	}
	p.begin(event{trace: maxTraces + 1, index: 1}, b)
	if *b.Unexpected[endless] != maxTraces+1 || p.open != 1 {
		t.Errorf("told %v, %d open", b.Unexpected.Plain(), p.open)
	}
}

func TestAStreamWithEventsIsServedBesideTwoOthersWhereAllProtocolsAreOffered(t *testing.T) {
	if most := bounds.Divide(1<<30, 13).Connections(TCP.ConnectionBytes); most < 3 {
		t.Errorf("%d connections", most)
	}
}

func TestPlacesOfEndedExecutionsAreUsedAgain(t *testing.T) {
	p, b := pairs{}, ledger.NewBatch(0)
	for trace := range uint64(1000) {
		for i := range int32(10) {
			p.begin(event{trace: trace, index: i}, b)
		}
		for i := range int32(10) {
			p.end(event{trace: trace, index: 10 + i}, b)
		}
	}
	if p.used > 10 || len(p.traces) != 0 {
		t.Errorf("%d places and %d traces are held", p.used, len(p.traces))
	}
}

func TestEventsOfALogAreCountedOverAllItsFiles(t *testing.T) {
	inBothFormats(t, func(t *testing.T, l *logWriter) {
		for trace := range int64(300) {
			l.event(samples.Event{Kind: samples.BeforeOperation, Trace: trace, Index: 0, Time: 1})
			l.turn() // in the middle of an execution
			l.event(samples.Event{Kind: samples.FailedOperation, Trace: trace, Index: 1, Time: 2})
		}
		l.event(samples.Event{Kind: samples.BeforeOperation, Trace: 1000})
		before, after := countFolder(t, l.format, l.end(), files.Edge{Records: 200})
		if before.Records != 200 || after.Records != 100 || after.UnexpectedNames != 1 || after.Unexpected[endless] != 1 {
			t.Errorf("before %+v, after %+v", before, after)
		}
	})
}

func TestALineOfAnEventWithOtherFieldsIsMalformed(t *testing.T) {
	l := newLogWriter(t, TextFile.Files)
	for _, line := range []string{"$1;1;1;1;1;m", "$1;1;1;1;1;m;c;more", "$1;1;x;1;1;m;c", "$2;1;1;1;1;m;c"} {
		fmt.Fprintln(&l.text, line)
	}
	l.turn()
	names := "$1=" + samples.AfterOperation + "\n$2=" + samples.FailedOperation + "\n$0=" + metadataClass + "\n"
	l.write(mapName, []byte(names))
	c, _ := countFolder(t, l.format, l.root, files.Edge{Records: 1 << 40})
	samples.ExpectCount(t, c, account.Account{Malformed: 4})
}
