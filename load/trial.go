package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"tracetax/load/internal/clock"
)

const (
	topTier = 4 // what a compiler's highest tier is told as: all of this program is compiled before it starts
	// how the warm-up is known to be over: by the number of requests, since nobody sees into the service
	how = "calls"
	// warmUpConnections is how many connections the warm-up uses at most: enough for a service to open its whole pool of
	// connections to a database, which agents record; few enough for one that has a thread per connection.
	warmUpConnections = 32
	fewConnections    = 4 // as many as a service answers at a time that has a thread for each core of a small machine
)

// trial is one trial, command by command: warm-up, measured requests, drained.
type trial struct {
	o           *options
	mix         []endpoint
	status      *statusLog
	target      *target
	load        *load
	plan        plan
	results     *results
	failures    *failures // of the measured requests
	random      *rand.Rand
	ready       readiness
	snapshots   map[string]snapshot
	calls       int // of the warm-up
	bursts      int
	failed      int  // requests of the warm-up that were not answered right
	failedAlone bool // whether the very first, which is sent by itself, was one of them
	opened      int64
	measured    bool

	toolCPUNs    int64 // of the user's tool, where one sent the measured requests
	unsentByTool int
	rateByTool   float64
}

// newTrial plans the measured requests; everything that they need is then in place.
func newTrial(o *options, mix []endpoint, status *statusLog) (*trial, error) {
	begin := takeSnapshot()
	if err := noteArrivals(); err != nil {
		return nil, err
	}
	timer, err := clock.NewTimer(clock.MostLead)
	if err != nil {
		return nil, err
	}
	t := &trial{
		o: o, mix: mix, status: status, target: newTarget(o), failures: &failures{},
		load:      &load{o: o, timer: timer},
		plan:      newPlan(o, mix),
		random:    rand.New(rand.NewPCG(o.seed, streamOfWarmUp)),
		snapshots: map[string]snapshot{"main": begin},
	}
	t.results = newResults(t.plan, o.inside)
	for range o.connections {
		t.load.senders = append(t.load.senders, newSender(t.target, mix, t.failures, o.inside))
	}
	return t, nil
}

// awaitReady waits until the service is; where its first answer is what is measured, nothing is asked before.
func (t *trial) awaitReady(ctx context.Context) error {
	if t.o.sinceNs == 0 {
		q, err := t.firstQuestion()
		if err != nil {
			return err
		}
		if t.ready, err = t.target.awaitReady(ctx, q, &fasthttp.Response{}, t.o.readyWithin); err != nil {
			return err
		}
	}
	t.status.event("ready", clock.NowNs(), fmt.Sprintf("requests=%d", t.ready.Requests))
	return nil
}

// firstQuestion is a request to the endpoint that --ready names, or to a path.
func (t *trial) firstQuestion() (question, error) {
	if strings.HasPrefix(t.o.ready, "/") {
		return t.target.askFor(t.o.ready), nil
	}
	place := slices.IndexFunc(t.mix, func(e endpoint) bool { return e.Name == t.o.ready })
	if place < 0 {
		return question{}, fmt.Errorf("--ready %s: neither a path nor an endpoint of --requests", t.o.ready)
	}
	e := &t.mix[place]
	return question{
		request: e.request(t.target.base),
		shown:   e.Method + " " + t.target.base + e.Path,
		again:   askAgainSoon,
		timeOut: t.o.timeOut,
		most:    mostWrong,
	}, nil
}

// warmUp sends a burst of requests back to back. The very first is sent by itself and told.
func (t *trial) warmUp(ctx context.Context, calls int) error {
	return t.warmUpBy(ctx, draw(calls, t.mix, t.random), min(t.o.connections, warmUpConnections))
}

// oneByOne sends so many requests to one endpoint, each when the one before has been answered: what records a request
// makes can be counted then.
func (t *trial) oneByOne(ctx context.Context, calls int, name string) error {
	place := slices.IndexFunc(t.mix, func(e endpoint) bool { return e.Name == name })
	if place < 0 {
		return fmt.Errorf("command 'one-by-one': there is no endpoint %q", name)
	}
	return t.warmUpBy(ctx, slices.Repeat([]uint8{uint8(place)}, calls), 1)
}

func (t *trial) warmUpBy(ctx context.Context, endpoints []uint8, connections int) error {
	if t.calls == 0 {
		if err := t.burst(ctx, endpoints[:1], 1); err != nil {
			return err
		}
		t.status.event("first-monitored", clock.NowNs(), "")
		t.failedAlone = t.failed > 0
		t.calls, endpoints = 1, endpoints[1:]
	}
	if len(endpoints) > 0 {
		if err := t.burst(ctx, endpoints, connections); err != nil {
			return err
		}
	}
	t.calls += len(endpoints)
	t.bursts++
	t.status.event("warmed", clock.NowNs(),
		fmt.Sprintf("calls=%d driver=%d method=%d how=%s failed=%d%s", t.calls, topTier, topTier, how, t.failed, t.because()))
	return nil
}

// because is why a request of the warm-up failed, in words; empty where none did.
func (t *trial) because() string {
	t.failures.lock.Lock()
	defer t.failures.lock.Unlock()
	for of, why := range t.failures.first {
		return fmt.Sprintf(" because %s: %s%s", t.mix[of.endpoint].Name, why, t.tooMany(of.outcome))
	}
	return ""
}

// tooMany is a way out where a request of the warm-up timed out: a service that answers a few connections at a time
// leaves the others of a burst waiting. Empty where that cannot be the reason.
func (t *trial) tooMany(o outcome) string {
	used := min(t.o.connections, warmUpConnections)
	if o != timedOut || t.failedAlone || used <= fewConnections {
		return ""
	}
	return fmt.Sprintf(" on one of %d connections. Where the service answers fewer at a time, say so: --connections %d",
		used, fewConnections)
}

func (t *trial) burst(ctx context.Context, endpoints []uint8, connections int) error {
	p := plan{endpoints: endpoints}
	r := newResults(p, false)
	if err := t.load.perform(ctx, p, r, connections); err != nil {
		return err
	}
	for _, o := range r.outcomes {
		if o != right {
			t.failed++
		}
	}
	return nil
}

// measure sends the measured requests. A garbage collection beforehand leaves little to collect among them.
func (t *trial) measure(ctx context.Context) error {
	if t.measured {
		return errors.New("measure: the measured requests are already sent")
	}
	t.failures.clear()
	runtime.GC()
	if t.o.tool != nil {
		return t.measureByTool(ctx)
	}
	if t.o.sinceNs != 0 {
		return t.measureFirst(ctx)
	}
	opened := t.target.opened.Load()
	first := takeSnapshot()
	t.status.event("first-call", first.MonotonicNs, "")
	if err := t.load.perform(ctx, t.plan, t.results, t.o.connections); err != nil {
		return err
	}
	last := takeSnapshot()
	t.snapshots["first_call"], t.snapshots["last_call"] = first, last
	t.opened = t.target.opened.Load() - opened
	t.measured = true
	t.status.event("last-call", last.MonotonicNs, "")
	return nil
}

// measureFirst asks until the service answers for the first time: the measured request, which lasts since the moment
// that was given. It begins then too, so that whoever looks at the service's CPU counts from there.
func (t *trial) measureFirst(ctx context.Context) error {
	q, err := t.firstQuestion()
	if err != nil {
		return err
	}
	first, response := takeSnapshot(), &fasthttp.Response{}
	t.status.event("first-call", first.MonotonicNs, "")
	if t.ready, err = t.target.awaitReady(ctx, q, response, t.o.readyWithin); err != nil {
		return err
	}
	last := takeSnapshot()
	a := answer{beganNs: t.o.sinceNs, endedNs: t.ready.AnsweredNs, status: uint16(response.StatusCode())}
	var why string
	if a.insideNs, why = t.load.senders[0].read(t.plan.endpoints[0], response); why != "" {
		a.outcome = wrong
		t.failures.tell(t.plan.endpoints[0], wrong, why)
	}
	(&phase{plan: t.plan, results: t.results}).record(0, a)
	t.snapshots["first_call"], t.snapshots["last_call"] = first, last
	t.opened, t.measured = 1, true
	t.status.event("answered", t.ready.AnsweredNs, "")
	t.status.event("last-call", t.ready.AnsweredNs, "")
	return nil
}

// drained takes the last snapshots and writes everything.
func (t *trial) drained() error {
	if !t.measured {
		return errors.New("drained: nothing has been measured")
	}
	drained := takeSnapshot()
	t.status.event("drained", drained.MonotonicNs, "")
	t.snapshots["drained"] = drained
	runtime.GC()
	t.snapshots["collected"] = takeSnapshot()
	if err := t.write(); err != nil {
		return err
	}
	t.status.event("written", clock.NowNs(), t.summary())
	return nil
}

// snapshot is what only the program itself can see, at one moment.
type snapshot struct {
	MonotonicNs    int64  `json:"monotonic_ns"`
	ProcessCPUNs   int64  `json:"process_cpu_ns"`
	Collections    uint64 `json:"gc_count"`
	HeapUsedBytes  uint64 `json:"heap_used_bytes"`
	AllocatedBytes uint64 `json:"allocated_bytes"` // by the whole program so far
}

func takeSnapshot() snapshot {
	read := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(read)
	return snapshot{
		MonotonicNs:    clock.NowNs(),
		ProcessCPUNs:   clock.ProcessCPUNs(),
		Collections:    read[0].Value.Uint64(),
		HeapUsedBytes:  read[1].Value.Uint64(),
		AllocatedBytes: read[2].Value.Uint64(),
	}
}
