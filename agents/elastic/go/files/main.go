// Command calltree is the call tree workload with Elastic APM's transactions and spans, made by hand: nothing attaches
// to a Go program from outside. The agent's own variables set it up.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.elastic.co/apm/v2"

	"tracetax/calltree"
)

const (
	eventName = "calltree.MonitoredMethod"
	eventType = "custom"
	// endWithin is how long the last events may take to be sent when the program ends.
	endWithin = 10 * time.Second
)

var tracer *apm.Tracer

func main() {
	tracer = apm.DefaultTracer()
	code := calltree.Main(monitoredMethod)
	end()
	os.Exit(code)
}

// monitoredMethod is calltree.MonitoredMethod with an event: the outermost execution is a transaction, the inner ones
// are spans of it.
//
//go:noinline
func monitoredMethod(ctx context.Context, methodTimeNs int64, depth int) int64 {
	if apm.TransactionFromContext(ctx) == nil {
		transaction := tracer.StartTransaction(eventName, eventType)
		defer transaction.End()
		ctx = apm.ContextWithTransaction(ctx, transaction)
	} else {
		span, inside := apm.StartSpan(ctx, eventName, eventType)
		defer span.End()
		ctx = inside
	}
	if depth > 1 {
		return monitoredMethod(ctx, methodTimeNs, depth-1)
	}
	return calltree.Work(methodTimeNs)
}

// end has the last events sent, and says how many the agent has dropped: it counts them, and prints nothing itself.
func end() {
	if !tracer.Active() {
		return // it sends nothing by intention, and counts that as dropped
	}
	late := make(chan struct{})
	time.AfterFunc(endWithin, func() { close(late) })
	tracer.Flush(late)
	tracer.Close()
	stats := tracer.Stats()
	if dropped := stats.TransactionsDropped + stats.SpansDropped; dropped > 0 {
		fmt.Fprintf(os.Stderr, "elastic: dropped %d events, %d of them transactions\n", dropped, stats.TransactionsDropped)
	}
}
