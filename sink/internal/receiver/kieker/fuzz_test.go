package kieker

import (
	"bytes"
	"fmt"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

func FuzzKiekerBinaryFile(f *testing.F) {
	w := samples.KiekerWriter{Ids: map[string]int32{}, Apart: true}
	w.Metadata()
	w.Call(1, 3)
	seed := []byte(nil)
	for text, id := range w.Ids {
		seed = fmt.Appendf(seed, "$%d=%s\n", id, text)
	}
	f.Add(seed, w.Data, uint16(57))
	f.Fuzz(func(t *testing.T, strings, data []byte, piece uint16) {
		fuzzFile(t, BinaryFile.Files, strings, data, int(piece)+1, executionBytes)
	})
}

func FuzzKiekerTextFile(f *testing.F) {
	seed := []byte("$1=" + executionClass + "\n$2=kieker.common.record.misc.KiekerMetadataRecord\n")
	line := "$1;1;" + samples.Signature + ";<no-session>;1;1;2;host;0;0\n"
	f.Add(seed, []byte("$2;1;2.0.2;c;h;1;false;0;NANOSECONDS;0\n"+line+"$1;1;void demo.Größe();n;-1;2;1;h;0;0\n"), uint16(7))
	f.Fuzz(func(t *testing.T, strings, data []byte, piece uint16) {
		fuzzFile(t, TextFile.Files, strings, data, int(piece)+1, len("$1;1;"+samples.Method+"(;;1;1;1;;1;1\n"))
	})
}

// fuzzFile checks that a file counts the same in any pieces, and no more than it can hold.
func fuzzFile(t *testing.T, format *files.Format, strings, data []byte, piece, least int) {
	whole := countFile(t, format, strings, data, len(data)+1)
	if most := int64(len(data) / least); whole.Records+whole.Duplicates > most+1 {
		t.Fatalf("%d bytes are %+v", len(data), whole)
	}
	samples.CheckTrees(t, 3, whole)
	samples.ExpectCount(t, countFile(t, format, strings, data, piece), whole)
}

func countFile(t *testing.T, format *files.Format, strings, data []byte, piece int) account.Account {
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, 3, 1000, 8<<20), nil)
	decoder, b := format.Decoder(samples.Method), ledger.NewBatch(0)
	entries := files.Lines{Limit: maxStringBytes + mapNumberBytes}
	feed := func(from []byte, consume func([]byte, *ledger.Batch) int) {
		buffer, rest := make([]byte, readBytes), 0
		for reader := bytes.NewReader(from); reader.Len() > 0; {
			n, _ := reader.Read(buffer[rest:min(len(buffer), rest+piece)])
			rest = consume(buffer[:rest+n], b)
			if rest == len(buffer) {
				t.Fatalf("%d bytes wait for their end", rest)
			}
			l.Apply(b)
		}
		b.CutOff += int64(min(1, rest))
	}
	feed(strings, func(data []byte, b *ledger.Batch) int { return entries.Consume(data, b, decoder.Entry) })
	decoder.Begin()
	feed(data, decoder.Consume)
	decoder.End(b)
	l.Apply(b)
	return l.Close()
}

func FuzzKieker(f *testing.F) {
	w := samples.NewKiekerWriter()
	w.Call(1, 3)
	w.Execution(samples.Execution{Signature: "void demo.Größe.<init>()"})
	f.Add(w.Data, uint16(57))
	w.Execution(samples.Execution{Class: "some.Record"})
	f.Add(w.Data, uint16(3))
	w = samples.NewPythonWriter()
	w.FlowCall(1, 3)
	w.Event(samples.Event{Kind: samples.FailedOperation, Trace: 2, Index: 8, Operation: "größe"})
	f.Add(w.Data, uint16(41))
	f.Add(pythonStream, uint16(1))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := count(3, data)
		if most := int64(len(data) / executionBytes); whole.Records+whole.Duplicates > most || whole.Malformed > 1 {
			t.Fatalf("%d bytes are %+v", len(data), whole)
		}
		samples.CheckTrees(t, 3, whole)

		l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, 3, 1000, 8<<20), nil)
		stream, b := newStream(samples.Method), ledger.NewBatch(0)
		buffer, rest := make([]byte, readBytes), 0
		for from := data; len(from) > 0; {
			n := copy(buffer[rest:], from[:min(int(piece)+1, len(from))])
			from = from[n:]
			rest = stream.Consume(buffer[:rest+n], b)
			if rest+executionBytes > len(buffer) {
				t.Fatalf("%d bytes wait for their end", rest)
			}
			l.Apply(b)
		}
		if rest > 0 {
			b.Malformed++
		}
		stream.End(b)
		l.Apply(b)
		samples.ExpectCount(t, l.Close(), whole)
	})
}

// FuzzKiekerDual lets strings and records come in any pieces, and checks that they count as if all strings were first.
func FuzzKiekerDual(f *testing.F) {
	w := samples.KiekerWriter{Ids: map[string]int32{}, Apart: true}
	w.Metadata()
	w.Call(1, 3)
	w.Execution(samples.Execution{Signature: "void demo.Größe.<init>()"})
	f.Add(stringsOf(&w), w.Data, uint16(3), uint16(57))
	w.Event(samples.Event{Kind: samples.BeforeOperation, Trace: 2, Index: 1})
	w.Event(samples.Event{Kind: samples.AfterOperation, Trace: 2, Index: 2})
	f.Add(stringsOf(&w), w.Data, uint16(41), uint16(1))
	f.Fuzz(func(t *testing.T, texts, records []byte, pieceOfTexts, piece uint16) {
		whole := countDual(3, texts, records, len(texts)+1, len(records)+1)
		if most := int64(len(records) / executionBytes); whole.Records+whole.Duplicates > most || whole.Malformed > 1 {
			t.Fatalf("%d and %d bytes are %+v", len(texts), len(records), whole)
		}
		samples.CheckTrees(t, 3, whole)
		if broken := countDual(3, texts, nil, len(texts)+1, 1); broken.Malformed > 0 {
			return // what has been counted by then depends on when it comes
		}
		samples.ExpectCount(t, countDual(3, texts, records, int(pieceOfTexts)+1, int(piece)+1), whole)
	})
}

// FuzzKiekerEvents reads a byte for each event of two traces that come interleaved, and checks that every event is in
// one record or is told.
func FuzzKiekerEvents(f *testing.F) {
	f.Add([]byte{4, 4, 4, 5, 5, 5})
	f.Add([]byte{4, 20, 4, 6, 21, 5, 7, 5, 8, 0, 1, 132, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, b := pairs{}, ledger.NewBatch(0)
		index := [2]int32{}
		for _, what := range data {
			trace := what >> 1 & 1
			index[trace] += int32(what>>2&3) + int32(what>>7) // 0 to 4 apart; in order it is 1
			e := event{trace: uint64(trace), index: index[trace], method: uint64(what >> 4 & 1)}
			if what&1 == 0 {
				p.begin(e, b)
			} else if execution, paired := p.end(e, b); paired {
				b.Records = append(b.Records, execution)
			}
			if p.open < 0 || p.level < 0 || int(p.used) > len(data) || len(p.traces) > p.open {
				t.Fatalf("%v: %+v", data, p)
			}
		}
		p.giveUp(b)
		events, told := 2*len(b.Records), int64(0)
		for _, times := range b.Unexpected {
			told += *times
		}
		if int64(events)+told != int64(len(data)) || p.open != 0 {
			t.Fatalf("%v: of %d events %d are in records and %d are told", data, len(data), events, told)
		}
	})
}
