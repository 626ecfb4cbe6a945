package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestEveryKiekerRecordIsCountedExactly(t *testing.T) {
	w := newKiekerWriter()
	for trace := range int64(500) {
		w.call(trace, 10)
	}
	expectCount(t, countKieker(10, w.data), protocolCount{Records: 5000, CompleteTrees: 500})
}

func TestKiekerRecordsAreTheSameInAnyPieces(t *testing.T) {
	w := newKiekerWriter()
	for trace := range int64(20) {
		w.call(trace, 10)
	}
	for _, size := range []int{1, 3, 7, 55, 56, 57, 4096} {
		l := newLedger(newTreeTable(&executionChain{}, 10, 100, 8<<20), nil)
		stream, b := newKiekerStream(testMethod), newBatch(0)
		buffer, rest := make([]byte, kiekerReadBytes), 0
		for data := w.data; len(data) > 0; {
			n := copy(buffer[rest:], data[:min(size, len(data))])
			data = data[n:]
			rest = stream.consume(buffer[:rest+n], b)
			l.apply(b)
		}
		if rest != 0 {
			t.Errorf("%d bytes are left over in pieces of %d", rest, size)
		}
		expectCount(t, l.close(), protocolCount{Records: 200, CompleteTrees: 20})
	}
}

func TestConstructorAndClassInitialiserAreUnexpectedNamesOutsideTheTrees(t *testing.T) {
	w := newKiekerWriter()
	w.execution(execution{trace: 0, signature: "static void demo.MonitoredClass.<clinit>()"})
	w.execution(execution{trace: 1, signature: "public demo.MonitoredClass.<init>()"})
	w.call(2, 10)
	expectCount(t, countKieker(10, w.data), protocolCount{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 2,
		Unexpected: map[string]int64{"static void demo.MonitoredClass.<clinit>()": 1, "public demo.MonitoredClass.<init>()": 1},
	})
}

func TestAtMostSixteenUnexpectedNamesAreToldApart(t *testing.T) {
	w := newKiekerWriter()
	for i := range 40 {
		w.execution(execution{signature: fmt.Sprintf("void demo.Other.method%02d()", i)})
	}
	c := countKieker(10, w.data)
	if len(c.Unexpected) != maxNames+1 || c.Unexpected[otherNames] != 24 || c.UnexpectedNames != 40 {
		t.Errorf("counted %d: %v", c.UnexpectedNames, c.Unexpected)
	}
}

func TestASignatureIsExpectedOnlyAsTheWholeNameOfTheMethod(t *testing.T) {
	for signature, expected := range map[string]bool{
		"public long demo.MonitoredClass.monitoredMethod(long,int)": true,
		"demo.MonitoredClass.monitoredMethod(long,int)":             true,
		"long a.b.demo.MonitoredClass.monitoredMethod()":            true,
		"long otherdemo.MonitoredClass.monitoredMethod()":           false,
		"long demo.MonitoredClass.monitoredMethods(long,int)":       false,
		"long demo.MonitoredClass.monitoredMethod":                  false,
		"x" + testMethod + "( " + testMethod + "()":                 true,
		"": false,
	} {
		if namesMethod(signature, testMethod) != expected {
			t.Errorf("%q: expected is %v", signature, expected)
		}
	}
}

func TestKiekerRecordsThatEndBeforeTheyStartAreCounted(t *testing.T) {
	w := newKiekerWriter()
	w.execution(execution{eoi: 0, ess: 0, start: 5, end: 4})
	expectCount(t, countKieker(1, w.data), protocolCount{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestRecordsOfAnotherKnownClassAreUnexpected(t *testing.T) {
	const class = "kieker.common.record.flow.trace.operation.BeforeOperationEvent"
	w := newKiekerWriter()
	w.record(class, []string{testSignature, "demo.MonitoredClass"}, func(ids []int32) {
		w.int64(1)
		w.int64(2)
		w.int32(3)
		w.int32(ids[0])
		w.int32(ids[1])
	})
	w.call(1, 10)
	expectCount(t, countKieker(10, w.data), protocolCount{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{class: 1},
	})
}

func TestAnUnknownClassEndsTheUnderstandingOfTheStream(t *testing.T) {
	w := newKiekerWriter()
	w.call(1, 10)
	w.execution(execution{class: "some.Record"})
	w.call(2, 10)
	expectCount(t, countKieker(10, w.data), protocolCount{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestAClassThatWasNeverRegisteredIsMalformed(t *testing.T) {
	expectCount(t, countKieker(10, bytes.Repeat([]byte{0, 0, 0, 9}, 30)), protocolCount{Malformed: 1})
}

func TestASignatureThatWasNeverRegisteredIsMalformed(t *testing.T) {
	w := newKiekerWriter()
	w.ids[testSignature] = 5000
	w.call(1, 10)
	expectCount(t, countKieker(10, w.data), protocolCount{Malformed: 1})
}

func TestNamesOutsideASCIIAreReadByTheirChars(t *testing.T) {
	w := newKiekerWriter()
	w.execution(execution{signature: "void demo.Größe.日本𝄞()"})
	w.call(1, 10)
	expectCount(t, countKieker(10, w.data), protocolCount{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"void demo.Größe.日本𝄞()": 1},
	})
}

func TestARegistryWithoutEndIsMalformed(t *testing.T) {
	w := newKiekerWriter()
	for i := range maxRegistryBytes/1000 + 1 {
		w.id(fmt.Sprintf("%d%s", i, strings.Repeat("x", 1000)))
	}
	expectCount(t, countKieker(10, w.data), protocolCount{Malformed: 1})
}

func TestAStringOfImpossibleLengthIsMalformed(t *testing.T) {
	for _, length := range []string{"\x7f\xff\xff\xff", "\xff\xff\xff\xfe"} {
		expectCount(t, countKieker(10, []byte("\xff\xff\xff\xff\x00\x00\x00\x00"+length)), protocolCount{Malformed: 1})
	}
}

func TestATruncatedKiekerStreamKeepsWhatCameBefore(t *testing.T) {
	w := newKiekerWriter()
	w.call(1, 10)
	whole := len(w.data)
	w.call(2, 1)
	for cut := whole + 1; cut < len(w.data); cut++ {
		expectCount(t, countKieker(10, w.data[:cut]), protocolCount{Records: 10, CompleteTrees: 1, Malformed: 1})
	}
}
