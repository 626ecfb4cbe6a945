package calltree

import (
	"context"
	"time"
)

// Monitored is a method to be called: it works for methodTimeNs at the innermost of depth executions, and returns the
// clock, in nanoseconds since the program started, at the end of the work.
type Monitored func(ctx context.Context, methodTimeNs int64, depth int) int64

// MonitoredMethod executes itself depth times, one inside the other; the innermost execution works for methodTimeNs.
//
// With no work to do it still reads the clock twice, as the monitored method of MooBench does. It passes a context on,
// as a method has to that may be traced.
//
//go:noinline
func MonitoredMethod(ctx context.Context, methodTimeNs int64, depth int) int64 {
	if depth > 1 {
		return MonitoredMethod(ctx, methodTimeNs, depth-1)
	}
	return Work(methodTimeNs)
}

// Work is what the innermost execution does: it reads the clock until methodTimeNs have passed, twice at least.
func Work(methodTimeNs int64) int64 {
	begin := Now()
	now := Now()
	for now-begin < methodTimeNs {
		now = Now()
	}
	return now
}

var began = time.Now()

// Now is the monotonic clock, in nanoseconds since the program started: one read, without the wall clock.
func Now() int64 { return int64(time.Since(began)) }
