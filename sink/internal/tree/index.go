package tree

import (
	"math/bits"
	"math/rand/v2"
)

// smallestIndex is how many places the index has at first; the number is always a power of two.
const smallestIndex = 64

// index finds the slot of a tree by its key: a hash table with open addressing, at most half full. A place holds half of
// the key's hash and the slot, so that other trees, which lie elsewhere in memory, are hardly ever looked at.
//
// Go's map takes 4.1 times the CPU for the records of interleaved trees (95 % interval 3.8 to 4.3, 20 paired runs of
// go test -run '^$' -bench Index). With it a span costs the whole sink 1.18 times as much (1.04 to 1.33, 16 rounds of
// benchmarks/sink_against_sink.py). November 2026.
type index struct {
	places []uint64 // hash << 32 | slot + 1; 0 is empty
	used   int
	seeds  [2]uint64 // are drawn, so that a sender cannot choose keys that collide
}

func newIndex() index {
	return index{places: make([]uint64, smallestIndex), seeds: [2]uint64{rand.Uint64(), rand.Uint64() | 1}}
}

func (x *index) hash(key Key) uint32 {
	high, low := bits.Mul64(key.Lo^x.seeds[0], key.Hi^x.seeds[1])
	return uint32((high ^ low) >> 32)
}

// find returns the slot of the tree, or none.
func (x *index) find(key Key, s *slots) int32 {
	hash, mask := x.hash(key), len(x.places)-1
	for at := int(hash) & mask; x.places[at] != 0; at = (at + 1) & mask {
		if place := x.places[at]; uint32(place>>32) == hash {
			if slot := int32(uint32(place)) - 1; s.at(slot).key == key {
				return slot
			}
		}
	}
	return none
}

// put enters a tree that is not in the index.
func (x *index) put(key Key, slot int32) {
	if 2*(x.used+1) > len(x.places) {
		smaller := x.places
		x.places = make([]uint64, 2*len(smaller))
		for _, place := range smaller {
			if place != 0 {
				x.enter(place)
			}
		}
	}
	x.enter(uint64(x.hash(key))<<32 | uint64(slot+1))
	x.used++
}

func (x *index) enter(place uint64) {
	mask := len(x.places) - 1
	at := int(place>>32) & mask
	for x.places[at] != 0 {
		at = (at + 1) & mask
	}
	x.places[at] = place
}

// remove takes out a tree that is in the index. What lies behind it moves up where it would not be found any more.
func (x *index) remove(key Key, slot int32) {
	hash, mask := x.hash(key), len(x.places)-1
	gap := int(hash) & mask
	for x.places[gap] != uint64(hash)<<32|uint64(slot+1) {
		gap = (gap + 1) & mask
	}
	for at := (gap + 1) & mask; x.places[at] != 0; at = (at + 1) & mask {
		home := int(x.places[at]>>32) & mask
		if (at-home)&mask >= (at-gap)&mask {
			x.places[gap] = x.places[at]
			gap = at
		}
	}
	x.places[gap] = 0
	x.used--
}
