package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"tracetax/load/internal/clock"
)

// headStartNs is the time from the beginning of a phase to its first intended start: all senders wait by then.
const headStartNs = 2_000_000

// results are those of a phase's requests, in the order of the plan. Each place is written by one sender.
type results struct {
	serviceNs []int64 // from the real start to the end of the answer
	lateNs    []int64 // real minus intended start, never negative; none back to back
	outcomes  []outcome
	statuses  []uint16
	insideNs  []int64 // how long the work took, as answers say; none where that is not asked
	waited    []bool  // whether no connection was free at the intended start
}

// newResults touches every place, so that no request pays for memory.
func newResults(p plan, inside bool) *results {
	requests := len(p.endpoints)
	r := &results{
		serviceNs: touched[int64](requests),
		outcomes:  touched[outcome](requests),
		statuses:  touched[uint16](requests),
	}
	if p.starts != nil {
		r.lateNs, r.waited = touched[int64](requests), make([]bool, requests)
	}
	if inside {
		r.insideNs = touched[int64](requests)
	}
	return r
}

func touched[T int64 | outcome | uint16](length int) []T {
	values := make([]T, length)
	for i := range values {
		values[i] = 1
	}
	return values
}

// phase is a burst of the warm-up or the measured requests.
type phase struct {
	plan    plan
	results *results
	epochNs int64 // the clock at the first intended start
}

// load sends requests over a bounded number of connections.
type load struct {
	o       *options
	timer   *clock.Timer
	senders []*sender
}

// perform sends all requests of a plan, and returns when the last has ended, or at the end of the context.
func (l *load) perform(ctx context.Context, p plan, r *results, connections int) error {
	senders := l.senders[:min(connections, len(p.endpoints))]
	current := &phase{plan: p, results: r, epochNs: clock.NowNs() + headStartNs}
	var err error
	var ended sync.WaitGroup
	if p.starts == nil {
		current.backToBack(ctx, senders, &ended)
	} else {
		err = l.open(ctx, current, senders, &ended)
	}
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() { ended.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// backToBack has each sender send the next request as soon as its last has ended.
func (p *phase) backToBack(ctx context.Context, senders []*sender, ended *sync.WaitGroup) {
	var next atomic.Int64
	for _, s := range senders {
		ended.Go(func() {
			for k := next.Add(1) - 1; k < int64(len(p.plan.endpoints)) && ctx.Err() == nil; k = next.Add(1) - 1 {
				p.record(int(k), s.send(p.plan.endpoints[k]))
			}
		})
	}
}

// open releases each request at its intended start, whatever became of those before: an open model. A request for
// which no connection is free waits; the schedule does not.
func (l *load) open(ctx context.Context, p *phase, senders []*sender, ended *sync.WaitGroup) error {
	released := make(chan int32, len(p.plan.starts)) // holds all of them, so that releasing never waits
	var outstanding atomic.Int64
	for _, s := range senders {
		ended.Go(func() {
			for k := range released {
				if ctx.Err() != nil {
					return
				}
				l.sendAt(p, int(k), s)
				outstanding.Add(-1)
			}
		})
	}
	defer close(released)
	for k, start := range p.plan.starts {
		if _, err := l.timer.Until(p.epochNs + start); err != nil {
			return errors.Join(ctx.Err(), err)
		}
		p.results.waited[k] = outstanding.Add(1) > int64(len(senders))
		released <- int32(k)
	}
	return nil
}

// sendAt sends a request that is due, or gives it up where its latest start has passed. What is kept of one that was
// given up is how late it was by then: its true latency is longer.
func (l *load) sendAt(p *phase, k int, s *sender) {
	intendedNs := p.epochNs + p.plan.starts[k]
	if s.endedNs <= intendedNs { // a connection was free, though the load had not yet read that
		p.results.waited[k] = false
	}
	if nowNs := clock.NowNs(); nowNs-intendedNs > int64(l.o.latest) {
		p.results.lateNs[k] = nowNs - intendedNs
		p.record(k, answer{beganNs: nowNs, endedNs: nowNs, outcome: unsent})
		s.failures.tell(p.plan.endpoints[k], unsent, "no connection was free within "+l.o.latest.String())
		return
	}
	a := s.send(p.plan.endpoints[k])
	p.results.lateNs[k] = a.beganNs - intendedNs
	p.record(k, a)
}

func (p *phase) record(k int, a answer) {
	p.results.serviceNs[k] = a.endedNs - a.beganNs
	p.results.outcomes[k] = a.outcome
	p.results.statuses[k] = a.status
	if p.results.insideNs != nil {
		p.results.insideNs[k] = a.insideNs
	}
}
