package calltree

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// chunk is the number of calls between two looks at whether to stop.
const chunk = 16

// samples are those of one thread, a place per call: allocated and touched before the first call.
type samples struct {
	durations []int64 // start to end of each call, ns
	starts    []int64 // intended start of each call after the first of all threads, ns; none in a closed loop
	lateness  []int64 // real minus intended start of each call, ns; none in a closed loop
}

// newSamples has places for so many calls of a thread, at a rate with its schedule: threads share the rate evenly.
func newSamples(o *options, calls int64, thread int, rate float64) samples {
	if !o.paced() {
		return samples{durations: touched(calls)}
	}
	periodNs := 1e9 / rate
	starts := make([]int64, calls)
	for k := range starts {
		starts[k] = int64(math.Round((float64(k)*float64(o.threads) + float64(thread)) * periodNs))
	}
	return samples{touched(calls), starts, touched(calls)}
}

func touched(length int64) []int64 {
	values := make([]int64, length)
	for i := range values {
		values[i] = -1
	}
	return values
}

// loop makes one thread's calls; warm-up and measured calls take the same way.
type loop struct {
	o         *options
	monitored Monitored
	stop      *atomic.Bool
	sum       int64 // of everything the calls returned: kept, so that no compiler may leave a call out
}

// run makes the first calls of into; it ends early, after a whole chunk, when stopped. epochNs is the clock at the
// intended start of the first call of all threads.
func (l *loop) run(into *samples, calls int, epochNs int64) {
	ctx := context.Background()
	for from := 0; from < calls && !l.stop.Load(); from += chunk {
		if l.o.paced() {
			l.pacedChunk(ctx, into, from, min(from+chunk, calls), epochNs)
		} else {
			l.closedChunk(ctx, into, from, min(from+chunk, calls))
		}
	}
}

// closedChunk makes calls back to back.
func (l *loop) closedChunk(ctx context.Context, into *samples, from, to int) {
	for i := from; i < to; i++ {
		start := Now()
		l.sum += l.monitored(ctx, l.o.methodTimeNs, l.o.depth)
		into.durations[i] = Now() - start
	}
}

// pacedChunk makes calls at a rate: a late call starts at once, none is left out, and the schedule stays as it was.
func (l *loop) pacedChunk(ctx context.Context, into *samples, from, to int, epochNs int64) {
	until := spin
	if l.o.park {
		until = park
	}
	for i := from; i < to; i++ {
		intended := epochNs + into.starts[i]
		start := until(intended)
		l.sum += l.monitored(ctx, l.o.methodTimeNs, l.o.depth)
		into.durations[i] = Now() - start
		into.lateness[i] = start - intended
	}
}

// spin reads the clock until the time has come: it starts on time, stays on its core and keeps it warm.
func spin(intendedNs int64) int64 {
	now := Now()
	for now < intendedNs {
		now = Now()
	}
	return now
}

// park sleeps until the time has come, and again for whatever remains; it never spins.
func park(intendedNs int64) int64 {
	now := Now()
	for now < intendedNs {
		time.Sleep(time.Duration(intendedNs - now))
		now = Now()
	}
	return now
}
