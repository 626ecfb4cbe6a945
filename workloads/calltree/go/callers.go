package calltree

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	headStartNs     = 2_000_000 // from the release to the first intended start: time for all to wake up
	leadNs          = 100_000   // before the first intended start: time for reading the counters
	warmUpCalls     = 2 * chunk // per entry into the loop, as many as there are places for their samples
	leastWarmUpRate = 20_000    // paced warm-up keeps at least this rate: waiting is exercised, and yet soon over
)

// caller is one thread's part of a burst or of the measured calls, with its own samples and counters.
type caller struct {
	o       *options
	thread  int
	loop    loop
	samples samples
	scratch samples
	rate    float64 // of warm-up calls

	firstNs, lastNs, cpuNs int64 // of the latest calls; the first two by Now
}

// warmUp makes this thread's share of so many calls and forgets their samples.
func (c *caller) warmUp(calls, epochNs int64) {
	share := c.o.share(calls, c.thread)
	pieceNs := 0.0
	if c.o.paced() {
		pieceNs = warmUpCalls * float64(c.o.threads) * 1e9 / c.rate
	}
	c.begin(epochNs)
	for piece := int64(0); piece*warmUpCalls < share; piece++ {
		count := min(share-piece*warmUpCalls, warmUpCalls)
		c.loop.run(&c.scratch, int(count), epochNs+int64(math.Round(float64(piece)*pieceNs)))
	}
	c.end()
}

// measure makes this thread's share of the measured calls.
func (c *caller) measure(epochNs int64) {
	c.begin(epochNs)
	c.loop.run(&c.samples, len(c.samples.durations), epochNs)
	c.end()
}

func (c *caller) begin(epochNs int64) {
	spin(epochNs - leadNs)
	c.cpuNs = -clock(clockThread)
	c.firstNs = Now()
}

func (c *caller) end() {
	c.lastNs = Now()
	c.cpuNs += clock(clockThread)
}

// callers are all calling threads: goroutines, each locked to a thread of its own, released together.
type callers struct {
	all      []*caller
	work     []chan func(*caller)
	finished sync.WaitGroup
	failure  atomic.Pointer[error]
}

// newCallers allocates and touches every sample, and starts the threads, which wait.
func newCallers(o *options, monitored Monitored, stop *atomic.Bool) *callers {
	all := &callers{}
	for thread := range o.threads {
		rate := max(o.rate, leastWarmUpRate)
		c := &caller{
			o:       o,
			thread:  thread,
			loop:    loop{o: o, monitored: monitored, stop: stop},
			samples: newSamples(o, o.share(o.calls, thread), thread, o.rate),
			scratch: newSamples(o, warmUpCalls, thread, rate),
			rate:    rate,
		}
		all.all = append(all.all, c)
		all.work = append(all.work, make(chan func(*caller)))
		go all.obey(c)
	}
	return all
}

func (all *callers) warmUp(calls int64) error {
	return all.perform(func(c *caller, epochNs int64) { c.warmUp(calls, epochNs) })
}

func (all *callers) measure() error {
	return all.perform((*caller).measure)
}

// perform has every thread do its part, and returns when the last has ended.
func (all *callers) perform(part func(*caller, int64)) error {
	epochNs := Now() + headStartNs
	all.finished.Add(len(all.all))
	for _, work := range all.work {
		work <- func(c *caller) { part(c, epochNs) }
	}
	all.finished.Wait()
	if failure := all.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// obey is a calling thread's life. Its clock is only its own while it is locked to its goroutine.
func (all *callers) obey(c *caller) {
	runtime.LockOSThread()
	for work := range all.work[c.thread] {
		all.try(c, work)
	}
}

func (all *callers) try(c *caller, work func(*caller)) {
	defer all.finished.Done()
	defer func() {
		if reason := recover(); reason != nil {
			failure := callFailed(reason)
			all.failure.Store(&failure)
		}
	}()
	work(c)
}
