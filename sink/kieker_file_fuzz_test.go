package main

import (
	"bytes"
	"fmt"
	"testing"
)

func FuzzKiekerBinaryFile(f *testing.F) {
	w := kiekerWriter{ids: map[string]int32{}, apart: true}
	w.metadata()
	w.call(1, 3)
	seed := []byte(nil)
	for text, id := range w.ids {
		seed = fmt.Appendf(seed, "$%d=%s\n", id, text)
	}
	f.Add(seed, w.data, uint16(57))
	f.Fuzz(func(t *testing.T, strings, data []byte, piece uint16) {
		fuzzFile(t, kiekerBinaryFile.files, strings, data, int(piece)+1, executionBytes)
	})
}

func FuzzKiekerTextFile(f *testing.F) {
	seed := []byte("$1=" + executionClass + "\n$2=kieker.common.record.misc.KiekerMetadataRecord\n")
	line := "$1;1;" + testSignature + ";<no-session>;1;1;2;host;0;0\n"
	f.Add(seed, []byte("$2;1;2.0.2;c;h;1;false;0;NANOSECONDS;0\n"+line+"$1;1;void demo.Größe();n;-1;2;1;h;0;0\n"), uint16(7))
	f.Fuzz(func(t *testing.T, strings, data []byte, piece uint16) {
		fuzzFile(t, kiekerTextFile.files, strings, data, int(piece)+1, len("$1;1;"+testMethod+"(;;1;1;1;;1;1\n"))
	})
}

// fuzzFile checks that a file counts the same in any pieces, and no more than it can hold.
func fuzzFile(t *testing.T, format *fileFormat, strings, data []byte, piece, least int) {
	whole := countFile(t, format, strings, data, len(data)+1)
	if most := int64(len(data) / least); whole.Records+whole.Duplicates > most+1 {
		t.Fatalf("%d bytes are %+v", len(data), whole)
	}
	checkTrees(t, 3, whole)
	expectCount(t, countFile(t, format, strings, data, piece), whole)
}

func countFile(t *testing.T, format *fileFormat, strings, data []byte, piece int) protocolCount {
	l := newLedger(newTreeTable(&executionChain{}, 3, 1000, 8<<20), nil)
	decoder, b := format.decoder(testMethod), newBatch(0)
	entries := lines{limit: maxStringBytes + mapNumberBytes}
	feed := func(from []byte, consume func([]byte, *batch) int) {
		buffer, rest := make([]byte, kiekerReadBytes), 0
		for reader := bytes.NewReader(from); reader.Len() > 0; {
			n, _ := reader.Read(buffer[rest:min(len(buffer), rest+piece)])
			rest = consume(buffer[:rest+n], b)
			if rest == len(buffer) {
				t.Fatalf("%d bytes wait for their end", rest)
			}
			l.apply(b)
		}
		b.cutOff += int64(min(1, rest))
	}
	feed(strings, func(data []byte, b *batch) int { return entries.consume(data, b, decoder.entry) })
	decoder.begin()
	feed(data, decoder.consume)
	l.apply(b)
	return l.close()
}
