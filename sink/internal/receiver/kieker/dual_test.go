package kieker

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

// newApartWriter writes records alone; its strings come by stringsOf.
func newApartWriter() *samples.KiekerWriter {
	w := &samples.KiekerWriter{Ids: map[string]int32{}, Apart: true}
	w.Metadata()
	return w
}

// stringsOf are the strings of a writer as the second port gets them, in the order of their numbers.
func stringsOf(w *samples.KiekerWriter) []byte {
	texts := make([]string, len(w.Ids))
	for text, id := range w.Ids {
		texts[id] = text
	}
	var s samples.KiekerWriter
	for id, text := range texts {
		s.Int32(int32(id))
		s.Int32(int32(len([]rune(text))))
		s.Data = append(s.Data, text...)
	}
	return s.Data
}

func startDual(t *testing.T) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, protocol.Table{"kieker-dual-tcp": DualTCP}, "--depth", "10", "--record-name", samples.Method)
}

func call(traces int64) *samples.KiekerWriter {
	w := newApartWriter()
	for trace := range traces {
		w.Call(trace, 10)
	}
	return w
}

func dial(t *testing.T, r *sinktest.Running) (records, strings net.Conn) {
	t.Helper()
	return r.Dial("kieker-dual-tcp"), r.Dial("kieker-dual-tcp-strings")
}

func stopped(t *testing.T, r *sinktest.Running) account.Account {
	t.Helper()
	return r.Stop().Protocols["kieker-dual-tcp"]
}

func TestRecordsAreCountedByTheStringsOfTheSecondPort(t *testing.T) {
	r := startDual(t)
	w := call(1000)
	records, texts := dial(t, r)
	sinktest.Write(t, texts, stringsOf(w))
	sinktest.Write(t, records, w.Data)
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 10_000 && c.OpenConnections == 2 })
	records.Close()
	texts.Close()
	r.Await("ended", func(c sink.Counts) bool { return c.OpenConnections == 0 })
	c := stopped(t, r)
	if c.Requests != 1 || c.Bytes != int64(len(w.Data)+len(stringsOf(w))) {
		t.Errorf("%d requests, %d bytes", c.Requests, c.Bytes)
	}
	samples.ExpectCount(t, c, account.Account{Records: 10_000, CompleteTrees: 1000})
}

func TestRecordsWaitForTheirStringsHoweverLateTheseCome(t *testing.T) {
	r := startDual(t)
	w := call(1000) // more than a read takes
	records, texts := dial(t, r)
	sinktest.Write(t, records, w.Data)
	r.Await("read", func(c sink.Counts) bool { return c.Bytes == int64(len(w.Data)) && c.Records == 0 })
	for _, b := range stringsOf(w) {
		sinktest.Write(t, texts, []byte{b})
	}
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 10_000 })
	records.Close()
	texts.Close()
	samples.ExpectCount(t, stopped(t, r), account.Account{Records: 10_000, CompleteTrees: 1000})
}

func TestStringsThatComeAfterTheEndOfTheRecordsAreInTime(t *testing.T) {
	r := startDual(t)
	w := call(2)
	records, texts := dial(t, r)
	sinktest.Write(t, records, w.Data)
	records.Close()
	r.Await("read", func(c sink.Counts) bool { return c.Bytes == int64(len(w.Data)) })
	sinktest.Write(t, texts, stringsOf(w))
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 20 })
	samples.ExpectCount(t, stopped(t, r), account.Account{Records: 20, CompleteTrees: 2})
}

func TestAgentsOneAfterTheOtherHaveTheirOwnStrings(t *testing.T) {
	r := startDual(t)
	for number := range int64(3) {
		w := newApartWriter()
		w.Execution(samples.Execution{Trace: number, Signature: fmt.Sprintf("void demo.Other%d.method()", number)})
		w.Call(number, 10)
		records, texts := dial(t, r)
		sinktest.Write(t, texts, stringsOf(w))
		texts.Close()
		sinktest.Write(t, records, w.Data)
		records.Close()
		r.Await("counted", func(c sink.Counts) bool { return c.Records == 10*(number+1) && c.OpenConnections == 0 })
	}
	c := stopped(t, r)
	if len(c.Unexpected) != 3 {
		t.Errorf("%v", c.Unexpected)
	}
	samples.ExpectCount(t, c, account.Account{
		Records: 30, CompleteTrees: 3, UnexpectedNames: 3, Unexpected: c.Unexpected,
	})
}

func TestRecordsWhoseStringsNeverComeAreMalformedAndKeepNoOtherAgentWaiting(t *testing.T) {
	r := startDual(t)
	w := call(1)
	records := r.Dial("kieker-dual-tcp")
	sinktest.Write(t, records, w.Data)
	records.Close()
	r.Await("given up", func(c sink.Counts) bool { return c.Malformed == 1 && c.OpenConnections == 0 })
	records, texts := dial(t, r)
	sinktest.Write(t, records, w.Data)
	sinktest.Write(t, texts, stringsOf(w))
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 10 })
	samples.ExpectCount(t, stopped(t, r), account.Account{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestMoreRecordsThanMayWaitAreMalformedOnceAndReadToTheirEnd(t *testing.T) {
	r := startDual(t)
	records, _ := dial(t, r)
	data := call(4000).Data
	sinktest.Write(t, records, data)
	r.Await("read", func(c sink.Counts) bool { return c.Bytes == int64(len(data)) && c.Malformed == 1 })
	samples.ExpectCount(t, stopped(t, r), account.Account{Malformed: 1})
}

func TestASecondPortThatBringsNoStringsIsMalformed(t *testing.T) {
	long := string([]byte{0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff})
	twice := strings.Repeat("\x00\x00\x00\x05\x00\x00\x00\x01x", 2)
	for name, text := range map[string]string{"a length": long, "a string twice": twice, "another protocol": "GET / HTTP/1.1\r\n"} {
		s, b := newSender(samples.Method), ledger.NewBatch(0)
		if s.takeStrings([]byte(text), b); b.Malformed != 1 {
			t.Errorf("%s: %d malformed", name, b.Malformed)
		}
		if rest, _ := s.takeRecords(call(1).Data, b); rest != 0 || b.Malformed != 1 {
			t.Errorf("%s: then %d left, %d malformed", name, rest, b.Malformed)
		}
	}
}

func TestTextsOfTheSecondPortAreCountedInChars(t *testing.T) {
	w := newApartWriter()
	w.Execution(samples.Execution{Signature: "void demo.Größe.日本()"})
	w.Call(1, 10)
	samples.ExpectCount(t, countDual(10, stringsOf(w), w.Data, 1, 1<<20), account.Account{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"void demo.Größe.日本()": 1},
	})
}

func TestWhatEndsInTheMiddleIsCutOff(t *testing.T) {
	w := call(1)
	texts := stringsOf(w)
	c := countDual(10, append(texts, 0, 0, 1), w.Data[:len(w.Data)-1], 1<<20, 1<<20)
	samples.ExpectCount(t, c, account.Account{Records: 9, PartialTrees: 1, Orphans: 1, CutOff: 2})
}

// countDual counts what two connections bring, in turn in pieces of so many bytes.
func countDual(depth int, texts, records []byte, pieceOfTexts, piece int) account.Account {
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, depth, 1000, 8<<20), nil)
	s, b := newSender(samples.Method), ledger.NewBatch(0)
	var waitingTexts, waiting []byte
	for len(texts)+len(records) > 0 {
		n := min(pieceOfTexts, len(texts))
		waitingTexts = append(waitingTexts, texts[:n]...)
		waitingTexts = waitingTexts[:s.takeStrings(waitingTexts, b)]
		texts = texts[n:]
		if n > 0 && len(texts) == 0 {
			s.endStrings(len(waitingTexts), b)
		}
		n = min(piece, len(records))
		waiting = append(waiting, records[:n]...)
		rest, _ := s.takeRecords(waiting, b)
		waiting, records = waiting[:rest], records[n:]
	}
	s.ended = true
	s.tell()
	s.endRecords(waiting, b)
	l.Apply(b)
	return l.Close()
}

func TestStringsAreReadToTheirEndWhereTheRecordsCannotBeUnderstood(t *testing.T) {
	w := newApartWriter()
	w.Call(1, 10)
	w.Execution(samples.Execution{Class: "some.Record"})
	texts := append(stringsOf(w), 0, 0, 1)
	for _, piece := range []int{7, 1 << 20} {
		samples.ExpectCount(t, countDual(10, texts, w.Data, piece, 1<<20), account.Account{
			Records: 10, CompleteTrees: 1, Malformed: 1, CutOff: 1,
		})
	}
}
