// Command calltree is the call tree workload with Datadog's spans, made by hand: nothing attaches to a Go program from
// outside. The tracer's own variables set it up.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/DataDog/dd-trace-go/v2/ddtrace/tracer"

	"tracetax/calltree"
)

const spanName = "calltree.MonitoredMethod"

func main() {
	if err := tracer.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "datadog:", err)
		os.Exit(1)
	}
	code := calltree.Main(monitoredMethod)
	tracer.Stop() // sends what waits
	os.Exit(code)
}

// monitoredMethod is calltree.MonitoredMethod with a span.
//
//go:noinline
func monitoredMethod(ctx context.Context, methodTimeNs int64, depth int) int64 {
	span, ctx := tracer.StartSpanFromContext(ctx, spanName)
	defer span.Finish()
	if depth > 1 {
		return monitoredMethod(ctx, methodTimeNs, depth-1)
	}
	return calltree.Work(methodTimeNs)
}
