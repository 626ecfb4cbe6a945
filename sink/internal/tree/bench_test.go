package tree

import (
	"testing"

	"tracetax/sink/internal/samples"
)

const (
	knownTrees = 1 << 16 // as many as are remembered of the finished ones
	newTrees   = 1 << 12 // that are entered, found and taken out again in a round
	lookups    = 10      // of a tree while its records come among those of others
)

// BenchmarkIndex is what the index costs per record of trees of depth 10 that come interleaved, and what Go's map costs.
func BenchmarkIndex(b *testing.B) {
	b.Run("own", func(b *testing.B) {
		s, x := newSlots(1), newIndex()
		for trace := range uint64(knownTrees) {
			slot := s.take()
			s.at(slot).key = keyOf(trace)
			x.put(keyOf(trace), slot)
		}
		benchmarkRounds(b, func(first uint64) (found int) {
			for trace := first; trace < first+newTrees; trace++ {
				slot := s.take()
				s.at(slot).key = keyOf(trace)
				x.put(keyOf(trace), slot)
			}
			for range lookups {
				for trace := first; trace < first+newTrees; trace++ {
					if x.find(keyOf(trace), &s) != none {
						found++
					}
				}
			}
			for trace := first - knownTrees; trace < first-knownTrees+newTrees; trace++ {
				slot := x.find(keyOf(trace), &s)
				x.remove(keyOf(trace), slot)
				s.giveBack(slot)
			}
			return found
		})
	})
	b.Run("map", func(b *testing.B) {
		s, x := newSlots(1), map[Key]int32{}
		for trace := range uint64(knownTrees) {
			slot := s.take()
			s.at(slot).key = keyOf(trace)
			x[keyOf(trace)] = slot
		}
		benchmarkRounds(b, func(first uint64) (found int) {
			for trace := first; trace < first+newTrees; trace++ {
				slot := s.take()
				s.at(slot).key = keyOf(trace)
				x[keyOf(trace)] = slot
			}
			for range lookups {
				for trace := first; trace < first+newTrees; trace++ {
					if _, known := x[keyOf(trace)]; known {
						found++
					}
				}
			}
			for trace := first - knownTrees; trace < first-knownTrees+newTrees; trace++ {
				slot := x[keyOf(trace)]
				delete(x, keyOf(trace))
				s.giveBack(slot)
			}
			return found
		})
	})
}

// keyOf is a trace id as agents draw it.
func keyOf(trace uint64) Key {
	return Key{Hi: trace * 0x9e3779b97f4a7c15, Lo: ^trace * 0xbf58476d1ce4e5b9}
}

// benchmarkRounds calls round again and again, which begins with the first of its trees, and returns how many were found.
func benchmarkRounds(b *testing.B, round func(first uint64) int) {
	var cpu samples.CPUTime
	counted, first := 0, uint64(knownTrees)
	for ; b.Loop(); counted++ {
		if counted%(newTrees*lookups) == 0 {
			cpu.Begin()
			if found := round(first); found != newTrees*lookups {
				b.Fatalf("%d are found", found)
			}
			cpu.End()
			first += newTrees
		}
	}
	cpu.Report(b, counted)
}
