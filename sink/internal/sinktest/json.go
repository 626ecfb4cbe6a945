package sinktest

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"weak"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

// ExpectNoAllocations counts a message of 1,000 spans with a walk again and again, and fails if that takes memory.
func ExpectNoAllocations(t *testing.T, message []byte, walks func(string, *ledger.Ledger) *sync.Pool) {
	t.Helper()
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1000, 8<<20), nil)
	w := walks(samples.SpanName, l).Get().(*httpserver.Walk)
	count := func() {
		if err := w.Message(message); err != nil {
			t.Fatal(err)
		}
		l.Apply(w.Batch)
	}
	count()
	if allocations := testing.AllocsPerRun(20, count); allocations > 5 {
		t.Errorf("%v allocations for 1000 spans", allocations)
	}
}

// ExpectNotKept fails if a walk keeps the last message alive.
func ExpectNotKept(t *testing.T, walks func(string, *ledger.Ledger) *sync.Pool) {
	t.Helper()
	w := walks(samples.SpanName, ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 100, 8<<20), nil)).Get().(*httpserver.Walk)
	message := bytes.Repeat([]byte(" "), 1<<20)
	alive := weak.Make(&message[0])
	_ = w.Message(message)
	runtime.GC()
	if alive.Value() != nil {
		t.Error("it is kept alive")
	}
	runtime.KeepAlive(w)
}

// BenchmarkJSON counts spans in JSON, fresh trees in every round; count takes one message with all of them.
func BenchmarkJSON(b *testing.B, text []byte, key string, count func(text []byte)) {
	const calls = 400
	traces := FindIDs(text, []byte(key), 0, 16)
	if len(traces) != calls*10 {
		b.Fatalf("%d spans", len(traces))
	}
	number := func(id []byte, trace uint64) { copy(id, fmt.Appendf(nil, "%016x", trace)) }
	BenchmarkRounds(b, text, traces, number, func() { count(text) })
}

// FindIDs returns the ids in a message: so many bytes each, beginning gap bytes after each occurrence of key.
func FindIDs(message, key []byte, gap, width int) [][]byte {
	var ids [][]byte
	for at := 0; ; {
		next := bytes.Index(message[at:], key)
		if next < 0 {
			return ids
		}
		at += next + len(key) + gap + width
		ids = append(ids, message[at-width:at])
	}
}

// BenchmarkRounds counts a message of call trees of ten spans again and again, and reports a span. Before each round
// every tree gets a new id, by number, in the places in the message that ids are; count takes the message.
func BenchmarkRounds(b *testing.B, message []byte, ids [][]byte, number func(id []byte, trace uint64), count func()) {
	trace, counted := uint64(1), 0
	b.SetBytes(int64(len(message) / len(ids)))
	for b.Loop() {
		if counted%len(ids) == 0 {
			b.StopTimer()
			for i, id := range ids {
				if i%10 == 0 {
					trace++
				}
				number(id, trace)
			}
			b.StartTimer()
			count()
		}
		counted++
	}
}

// BenchmarkMessages counts spans in JSON by a walk over whole messages.
func BenchmarkMessages(b *testing.B, text []byte, walks func(string, *ledger.Ledger) *sync.Pool) {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1_000_000, 384<<20), nil)
	w := walks(samples.SpanName, l).Get().(*httpserver.Walk)
	BenchmarkJSON(b, text, `"traceId":"`, func(text []byte) {
		if w.Message(text) != nil {
			b.Fatal("malformed")
		}
		l.Apply(w.Batch)
	})
}

// CountJSON counts messages by such a walk.
func CountJSON(depth int, walks func(string, *ledger.Ledger) *sync.Pool, messages ...[]byte) account.Account {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, depth, 1000, 8<<20), []string{ledger.Metrics, ledger.Logs})
	w := walks(samples.SpanName, l).Get().(*httpserver.Walk)
	for _, message := range messages {
		if w.Message(bytes.Clone(message)) != nil {
			w.Batch.Malformed++
		}
		l.Apply(w.Batch)
	}
	return l.Close()
}
