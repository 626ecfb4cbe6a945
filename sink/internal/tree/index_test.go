package tree

import (
	"math/rand/v2"
	"testing"
)

func TestTheIndexFindsWhatWasPutAndNotRemoved(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := newSlots(1)
	x := newIndex()
	known := map[Key]int32{}
	var keys []Key
	for range 20_000 {
		if len(keys) > 0 && random.IntN(5) < 2 {
			at := random.IntN(len(keys))
			key := keys[at]
			keys[at] = keys[len(keys)-1]
			keys = keys[:len(keys)-1]
			x.remove(key, known[key])
			s.giveBack(known[key])
			delete(known, key)
			if x.find(key, &s) != none {
				t.Fatalf("%v is still found", key)
			}
			continue
		}
		key := Key{Hi: random.Uint64() & 1, Lo: random.Uint64() >> 40}
		if _, there := known[key]; there {
			continue
		}
		slot := s.take()
		s.at(slot).key = key
		x.put(key, slot)
		known[key] = slot
		keys = append(keys, key)
	}
	for key, slot := range known {
		if found := x.find(key, &s); found != slot {
			t.Fatalf("%v is in slot %d, found in %d", key, slot, found)
		}
	}
	if x.used != len(known) || 2*x.used > len(x.places) {
		t.Errorf("%d of %d places are used for %d trees", x.used, len(x.places), len(known))
	}
}
