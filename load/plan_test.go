package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, streamOfArrivals)) }

func TestFixedArrivalsAreEvenAndDoNotDrift(t *testing.T) {
	starts := fixedStarts(3_000_001, 3)
	if starts[0] != 0 || starts[1] != 333_333_333 || starts[2] != 666_666_667 || starts[3_000_000] != 1_000_000_000_000_000 {
		t.Errorf("%v … %d", starts[:3], starts[3_000_000])
	}
}

func TestABurstIsAsManyAtOnceAsThereAreConnectionsAtTheRateOfAll(t *testing.T) {
	p := newPlan(&options{calls: 7, rate: 6, arrivals: bursts, connections: 3}, []endpoint{{Weight: 1}})
	if want := []int64{0, 0, 0, 500_000_000, 500_000_000, 500_000_000, 1_000_000_000}; !slices.Equal(p.starts, want) {
		t.Errorf("%v", p.starts)
	}
}

func TestPoissonArrivalsHaveExponentialGapsOfTheRate(t *testing.T) {
	const requests, rate = 100_000, 800.0
	starts := poissonStarts(requests, rate, random(1))
	if starts[0] != 0 {
		t.Errorf("the first starts at %d", starts[0])
	}
	gaps := make([]float64, requests-1)
	for k := range gaps {
		gaps[k] = float64(starts[k+1]-starts[k]) * rate / 1e9
	}
	slices.Sort(gaps)
	if gaps[0] < 0 {
		t.Fatal("a start before the one before it")
	}
	// The largest distance between the gaps' distribution and the exponential one: Kolmogorov and Smirnov's test.
	distance := 0.0
	for k, gap := range gaps {
		distribution := 1 - math.Exp(-gap)
		distance = max(distance, math.Abs(distribution-float64(k)/requests), math.Abs(distribution-float64(k+1)/requests))
	}
	if limit := 1.63 / math.Sqrt(requests); distance > limit { // 1 % of all seeds are farther away
		t.Errorf("distance %g, at most %g", distance, limit)
	}
}

func TestPoissonArrivalsForgetWhatWasBefore(t *testing.T) {
	const requests, rate, window = 100_000, 1000.0, int64(100_000_000) // 100 arrivals are due in each window
	starts := poissonStarts(requests, rate, random(2))
	counts := make([]float64, starts[requests-1]/window)
	for _, at := range starts {
		if place := at / window; place < int64(len(counts)) {
			counts[place]++
		}
	}
	mean, variance := 0.0, 0.0
	for _, count := range counts {
		mean += count / float64(len(counts))
	}
	for _, count := range counts {
		variance += (count - mean) * (count - mean) / float64(len(counts)-1)
	}
	if dispersion := variance / mean; dispersion < 0.85 || dispersion > 1.15 { // 1, and over 1,000 windows ± 0.045
		t.Errorf("variance %g, mean %g", variance, mean)
	}
}

func TestASeedGivesItsPlanAndNoOther(t *testing.T) {
	mix := []endpoint{{Weight: 1}, {Weight: 2}}
	planned := func(seed uint64) plan {
		return newPlan(&options{calls: 200, rate: 10, arrivals: poisson, seed: seed}, mix)
	}
	one, again, other := planned(7), planned(7), planned(8)
	if !slices.Equal(one.starts, again.starts) || !slices.Equal(one.endpoints, again.endpoints) {
		t.Error("the same seed gives another plan")
	}
	if slices.Equal(one.starts, other.starts) || slices.Equal(one.endpoints, other.endpoints) {
		t.Error("another seed gives the same plan")
	}
	fixed := newPlan(&options{calls: 200, rate: 10, seed: 7}, mix)
	if !slices.Equal(fixed.endpoints, one.endpoints) {
		t.Error("the arrivals move the mix")
	}
}

func TestOfWholeWeightsEveryCycleHasAsManyRequestsAsTheySayInAnotherOrder(t *testing.T) {
	mix := []endpoint{{Weight: 1}, {Weight: 3}, {Weight: 2}}
	endpoints := draw(604, mix, random(4))
	orders := map[string]bool{}
	for k := 0; k+6 <= len(endpoints); k += 6 {
		cycle := slices.Clone(endpoints[k : k+6])
		orders[string(cycle)] = true
		slices.Sort(cycle)
		if !slices.Equal(cycle, []uint8{0, 1, 1, 1, 2, 2}) {
			t.Fatalf("cycle %d has %v", k/6, cycle)
		}
	}
	if len(endpoints) != 604 || len(orders) < 30 { // of 60
		t.Errorf("%d requests, %d orders", len(endpoints), len(orders))
	}
}

func TestTheMixIsDrawnByWeight(t *testing.T) {
	const requests = 100_000
	mix := []endpoint{{Weight: 0.5}, {Weight: 3}, {Weight: 1.5}}
	counts := make([]float64, len(mix))
	for _, number := range draw(requests, mix, random(3)) {
		counts[number]++
	}
	square := 0.0
	for i := range mix {
		due := requests * mix[i].Weight / 5
		square += (counts[i] - due) * (counts[i] - due) / due
	}
	if square > 9.21 { // 1 % of all seeds are farther away: chi-square of 2 degrees of freedom
		t.Errorf("drawn %v", counts)
	}
}
