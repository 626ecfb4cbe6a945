package kieker

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

func TestEveryKiekerRecordIsCountedExactly(t *testing.T) {
	w := samples.NewKiekerWriter()
	for trace := range int64(500) {
		w.Call(trace, 10)
	}
	samples.ExpectCount(t, count(10, w.Data), account.Account{Records: 5000, CompleteTrees: 500})
}

func TestKiekerRecordsAreTheSameInAnyPieces(t *testing.T) {
	w := samples.NewKiekerWriter()
	for trace := range int64(20) {
		w.Call(trace, 10)
	}
	for _, size := range []int{1, 3, 7, 55, 56, 57, 4096} {
		l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, 10, 100, 8<<20), nil)
		stream, b := newStream(samples.Method), ledger.NewBatch(0)
		buffer, rest := make([]byte, readBytes), 0
		for data := w.Data; len(data) > 0; {
			n := copy(buffer[rest:], data[:min(size, len(data))])
			data = data[n:]
			rest = stream.Consume(buffer[:rest+n], b)
			l.Apply(b)
		}
		if rest != 0 {
			t.Errorf("%d bytes are left over in pieces of %d", rest, size)
		}
		samples.ExpectCount(t, l.Close(), account.Account{Records: 200, CompleteTrees: 20})
	}
}

func TestConstructorAndClassInitialiserAreUnexpectedNamesOutsideTheTrees(t *testing.T) {
	w := samples.NewKiekerWriter()
	w.Execution(samples.Execution{Trace: 0, Signature: "static void demo.MonitoredClass.<clinit>()"})
	w.Execution(samples.Execution{Trace: 1, Signature: "public demo.MonitoredClass.<init>()"})
	w.Call(2, 10)
	samples.ExpectCount(t, count(10, w.Data), account.Account{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 2,
		Unexpected: map[string]int64{"static void demo.MonitoredClass.<clinit>()": 1, "public demo.MonitoredClass.<init>()": 1},
	})
}

func TestAtMostSixteenUnexpectedNamesAreToldApart(t *testing.T) {
	w := samples.NewKiekerWriter()
	for i := range 40 {
		w.Execution(samples.Execution{Signature: fmt.Sprintf("void demo.Other.method%02d()", i)})
	}
	c := count(10, w.Data)
	if len(c.Unexpected) != 17 || c.Unexpected["…"] != 24 || c.UnexpectedNames != 40 {
		t.Errorf("counted %d: %v", c.UnexpectedNames, c.Unexpected)
	}
}

func TestKiekerRecordsThatEndBeforeTheyStartAreCounted(t *testing.T) {
	w := samples.NewKiekerWriter()
	w.Execution(samples.Execution{EOI: 0, ESS: 0, Start: 5, End: 4})
	samples.ExpectCount(t, count(1, w.Data), account.Account{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestAnUnknownClassEndsTheUnderstandingOfTheStream(t *testing.T) {
	w := samples.NewKiekerWriter()
	w.Call(1, 10)
	w.Execution(samples.Execution{Class: "some.Record"})
	w.Call(2, 10)
	samples.ExpectCount(t, count(10, w.Data), account.Account{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestAClassThatWasNeverRegisteredIsMalformed(t *testing.T) {
	samples.ExpectCount(t, count(10, bytes.Repeat([]byte{0, 0, 0, 9}, 30)), account.Account{Malformed: 1})
}

func TestASignatureThatWasNeverRegisteredIsMalformed(t *testing.T) {
	w := samples.NewKiekerWriter()
	w.Ids[samples.Signature] = 5000
	w.Call(1, 10)
	samples.ExpectCount(t, count(10, w.Data), account.Account{Malformed: 1})
}

func TestNamesOutsideASCIIAreReadByTheirChars(t *testing.T) {
	w := samples.NewKiekerWriter()
	w.Execution(samples.Execution{Signature: "void demo.Größe.日本𝄞()"})
	w.Call(1, 10)
	samples.ExpectCount(t, count(10, w.Data), account.Account{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"void demo.Größe.日本𝄞()": 1},
	})
}

func TestARegistryWithoutEndIsMalformed(t *testing.T) {
	w := samples.NewKiekerWriter()
	for i := range maxRegistryBytes/1000 + 1 {
		w.ID(fmt.Sprintf("%d%s", i, strings.Repeat("x", 1000)))
	}
	samples.ExpectCount(t, count(10, w.Data), account.Account{Malformed: 1})
}

func TestAStringOfImpossibleLengthIsMalformed(t *testing.T) {
	for _, length := range []string{"\x7f\xff\xff\xff", "\xff\xff\xff\xfe"} {
		samples.ExpectCount(t, count(10, []byte("\xff\xff\xff\xff\x00\x00\x00\x00"+length)), account.Account{Malformed: 1})
	}
}

func TestATruncatedKiekerStreamKeepsWhatCameBefore(t *testing.T) {
	w := samples.NewKiekerWriter()
	w.Call(1, 10)
	whole := len(w.Data)
	w.Call(2, 1)
	for cut := whole + 1; cut < len(w.Data); cut++ {
		samples.ExpectCount(t, count(10, w.Data[:cut]), account.Account{Records: 10, CompleteTrees: 1, Malformed: 1})
	}
}
