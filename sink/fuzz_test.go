package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzKieker(f *testing.F) {
	w := newKiekerWriter()
	w.call(1, 3)
	w.execution(execution{signature: "void demo.Größe.<init>()"})
	f.Add(w.data, uint16(57))
	w.execution(execution{class: "some.Record"})
	f.Add(w.data, uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := countKieker(3, data)
		if most := int64(len(data) / executionBytes); whole.Records+whole.Duplicates > most || whole.Malformed > 1 {
			t.Fatalf("%d bytes are %+v", len(data), whole)
		}
		checkTrees(t, 3, whole)

		l := newLedger(newTreeTable(&executionChain{}, 3, 1000, 8<<20), nil)
		stream, b := newKiekerStream(testMethod), newBatch(0)
		buffer, rest := make([]byte, kiekerReadBytes), 0
		for from := data; len(from) > 0; {
			n := copy(buffer[rest:], from[:min(int(piece)+1, len(from))])
			from = from[n:]
			rest = stream.consume(buffer[:rest+n], b)
			if rest+executionBytes > len(buffer) {
				t.Fatalf("%d bytes wait for their end", rest)
			}
			l.apply(b)
		}
		if rest > 0 {
			b.malformed++
		}
		l.apply(b)
		expectCount(t, l.close(), whole)
	})
}

func FuzzOTLP(f *testing.F) {
	f.Add(exportRequest(callSpans(1, 3)...))
	f.Add(exportRequest(span{trace: 1, id: 2, name: "other"}, span{trace: 1, id: 1, start: 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := countSpans(3, data)
		checkTrees(t, 3, once)
		twice := countSpans(3, data, data)
		// A span that comes again is a duplicate, unless its tree was evicted.
		if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
			t.Fatalf("once %+v, twice %+v", once, twice)
		}
	})
}

func FuzzControl(f *testing.F) {
	f.Add([]byte("counts\nphase measured\ncounts\nstop\n"))
	f.Add([]byte("phase measured after 10\ncounts\nphase other\nstop\n"))
	f.Add([]byte("read kieker-binary-file measured after 3 /no such folder\nread kieker-text-file m last 0 /\ncounts\nstop\n"))
	f.Add(append(bytes.Repeat([]byte("x"), maxCommand+1), "\nphase\n\xff"...))
	f.Fuzz(func(t *testing.T, commands []byte) {
		answers := obeyAll(t, string(commands))
		for _, answer := range answers {
			if !json.Valid([]byte(answer)) {
				t.Fatalf("%q is no JSON", answer)
			}
		}
		if lines := bytes.Count(commands, []byte("\n")) + 1; len(answers) > lines {
			t.Fatalf("%d answers for %d commands", len(answers), lines)
		}
		var last report
		if err := json.Unmarshal([]byte(answers[len(answers)-1]), &last); err != nil || last.Phase == "" {
			t.Fatalf("the last answer is %q", answers[len(answers)-1])
		}
	})
}

func checkTrees(t *testing.T, depth int64, c protocolCount) {
	t.Helper()
	if c.CompleteTrees*depth > c.Records || c.Orphans > c.Records || c.CompleteTrees+c.PartialTrees > c.Records {
		t.Fatalf("no possible trees: %+v", c)
	}
}
