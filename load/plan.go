package main

import (
	"math"
	"math/rand/v2"
	"sort"
)

// The streams of random numbers that a seed gives: what one of them draws does not move the others.
const (
	streamOfArrivals = iota + 1
	streamOfEndpoints
	streamOfWarmUp
)

// plan is what is sent: when, and to which endpoint.
type plan struct {
	starts    []int64 // intended starts after the first, ns; none back to back
	endpoints []uint8 // places in the mix
}

// newPlan plans the measured requests; the same seed gives the same plan.
func newPlan(o *options, mix []endpoint) plan {
	p := plan{endpoints: draw(o.calls, mix, rand.New(rand.NewPCG(o.seed, streamOfEndpoints)))}
	if !o.paced() {
		return p
	}
	switch o.arrivals {
	case poisson:
		p.starts = poissonStarts(o.calls, o.rate, rand.New(rand.NewPCG(o.seed, streamOfArrivals)))
	case bursts:
		p.starts = burstStarts(o.calls, o.rate, o.connections)
	default:
		p.starts = fixedStarts(o.calls, o.rate)
	}
	return p
}

// The ways in which requests arrive at a rate.
const (
	fixed   = "fixed"
	poisson = "poisson"
	bursts  = "bursts"
)

// fixedStarts are as far from each other as the rate says, which is in requests per second.
func fixedStarts(requests int, rate float64) []int64 {
	starts := make([]int64, requests)
	for k := range starts {
		starts[k] = int64(math.Round(float64(k) * (1e9 / rate)))
	}
	return starts
}

// burstStarts are so many at the same moment, and then none until the rate has room for as many again.
func burstStarts(requests int, rate float64, atOnce int) []int64 {
	starts := make([]int64, requests)
	for k := range starts {
		starts[k] = int64(math.Round(float64(k-k%atOnce) * (1e9 / rate)))
	}
	return starts
}

// poissonStarts are those of a Poisson process: the gaps are independent, and their lengths exponential.
func poissonStarts(requests int, rate float64, random *rand.Rand) []int64 {
	starts := make([]int64, requests)
	at := 0.0
	for k := range starts {
		starts[k] = int64(math.Round(at))
		at += random.ExpFloat64() * 1e9 / rate
	}
	return starts
}

// longestCycle is how many requests a cycle has at most; beyond, each request is drawn by itself.
const longestCycle = 100_000

// draw chooses an endpoint for each request, by weight. Where all weights are whole numbers, requests come in cycles: of
// each endpoint as many as its weight, in random order. So it is known beforehand how many of them go where.
func draw(requests int, mix []endpoint, random *rand.Rand) []uint8 {
	if cycle := cycleOf(mix); cycle != nil {
		endpoints := make([]uint8, 0, requests+len(cycle))
		for len(endpoints) < requests {
			random.Shuffle(len(cycle), func(i, j int) { cycle[i], cycle[j] = cycle[j], cycle[i] })
			endpoints = append(endpoints, cycle...)
		}
		return endpoints[:requests]
	}
	sums := make([]float64, len(mix))
	total := 0.0
	for i := range mix {
		total += mix[i].Weight
		sums[i] = total
	}
	endpoints := make([]uint8, requests)
	for k := range endpoints {
		endpoints[k] = uint8(sort.SearchFloat64s(sums, random.Float64()*total))
	}
	return endpoints
}

// cycleOf has the place of each endpoint as often as its weight says; nil where not all weights are whole, or too large.
func cycleOf(mix []endpoint) (cycle []uint8) {
	for i := range mix {
		weight := mix[i].Weight
		if weight != math.Trunc(weight) || float64(len(cycle))+weight > longestCycle {
			return nil
		}
		for range int(weight) {
			cycle = append(cycle, uint8(i))
		}
	}
	return cycle
}
