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
	var traces [][]byte
	for at := 0; ; {
		next := bytes.Index(text[at:], []byte(key))
		if next < 0 {
			break
		}
		at += next + len(key) + 16
		traces = append(traces, text[at:at+16])
	}
	if len(traces) != calls*10 {
		b.Fatalf("%d spans", len(traces))
	}
	trace, counted := uint64(1), 0
	b.SetBytes(int64(len(text) / len(traces)))
	for b.Loop() {
		if counted%(calls*10) == 0 {
			b.StopTimer()
			for i, id := range traces {
				if i%10 == 0 {
					trace++
				}
				copy(id, fmt.Appendf(nil, "%016x", trace))
			}
			b.StartTimer()
			count(text)
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
