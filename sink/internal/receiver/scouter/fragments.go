package scouter

import (
	"errors"
	"slices"
	"sync"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
)

const (
	// maxFragmented is how many packs may be incomplete at a time.
	maxFragmented = 64
	// fragmentBytes is what a part costs beside its bytes.
	fragmentBytes = 64
)

var errNoFragment = errors.New("a part that is not of its pack")

// fragmentKey names a pack that comes in parts.
type fragmentKey struct {
	object int64
	pack   uint64
}

// fragmented is what has arrived of such a pack.
type fragmented struct {
	parts   map[int][]byte
	total   int
	held    int64 // of the memory for messages
	sinceNs int64 // when its first part arrived
}

// fragments puts packs together that came in parts, in any order. They are held in the memory for messages, and the
// oldest has to go where there are too many: it is cut off.
type fragments struct {
	messages *message.Memory

	mu    sync.Mutex // who closes an account sees them too
	open  map[fragmentKey]*fragmented
	order []fragmentKey // the oldest first
}

func newFragments(m *message.Memory) *fragments {
	return &fragments{messages: m, open: map[fragmentKey]*fragmented{}}
}

// add takes a part, and returns the pack if it was the last one: that is to be released. Errors: errNoFragment,
// ErrTooLarge, ErrBusy.
func (f *fragments) add(key fragmentKey, total, number int, part []byte, b *ledger.Batch) ([]byte, error) {
	if total < 1 || number < 0 || number >= total {
		return nil, errNoFragment
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.open[key]
	if p == nil {
		if len(f.order) >= maxFragmented {
			f.forget(f.order[0])
			b.CutOff++
		}
		p = &fragmented{parts: map[int][]byte{}, total: total, sinceNs: b.ArrivalNs}
		f.open[key] = p
		f.order = append(f.order, key)
	}
	if p.total != total {
		return nil, errNoFragment
	}
	if _, again := p.parts[number]; again {
		return nil, nil
	}
	cost := int64(len(part)) + fragmentBytes
	if p.held+cost > f.messages.Limit {
		f.forget(key)
		return nil, message.ErrTooLarge
	}
	if !f.messages.Take(cost) {
		f.forget(key)
		return nil, message.ErrBusy
	}
	p.parts[number] = slices.Clone(part)
	p.held += cost
	if len(p.parts) < total {
		return nil, nil
	}
	whole := f.messages.Buffer(p.held)
	for number := range total {
		if whole != nil {
			whole = append(whole, p.parts[number]...)
		}
	}
	f.forget(key)
	if whole == nil {
		return nil, message.ErrBusy
	}
	return whole, nil
}

// release gives back the memory of a pack that was put together.
func (f *fragments) release(whole []byte) {
	f.messages.Release(whole)
}

// forget gives back what has arrived of a pack.
func (f *fragments) forget(key fragmentKey) {
	f.messages.Give(f.open[key].held)
	delete(f.open, key)
	f.order = slices.DeleteFunc(f.order, func(k fragmentKey) bool { return k == key })
}

// expire forgets packs that have been incomplete for longer than a message may take to arrive, so that their sender holds
// memory no longer, and returns how many.
func (f *fragments) expire(nowNs int64) (late int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.order) > 0 && nowNs-f.open[f.order[0]].sinceNs > int64(message.Time) {
		f.forget(f.order[0])
		late++
	}
	return late
}

// giveUp forgets all that is incomplete, and returns how many packs that were.
func (f *fragments) giveUp() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	incomplete := len(f.order)
	for len(f.order) > 0 {
		f.forget(f.order[0])
	}
	return int64(incomplete)
}
