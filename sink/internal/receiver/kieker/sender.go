package kieker

import (
	"encoding/binary"
	"sync"
	"time"

	"tracetax/sink/internal/ledger"
)

// sender is what an agent sends over two connections: records on one, and on the other the strings that they refer to.
type sender struct {
	mu     sync.Mutex
	stream stream
	ended  bool          // no more strings come
	broken bool          // no further string can be understood, and so no record
	woken  bool          // records that waited are to be looked at again
	wake   func()        // ends the reading of records for that
	news   chan struct{} // holds one where strings have come, or have ended
}

func newSender(recordName string) *sender {
	return &sender{
		stream: stream{recordName: recordName, registryGiven: true, registryComes: true},
		wake:   func() {},
		news:   make(chan struct{}, 1),
	}
}

// wakeBy says what ends the reading of records, so that those that wait are looked at again.
func (s *sender) wakeBy(wake func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake = wake
}

// takeRecords enters those whose strings are known into the batch, moves the rest to the front, and returns its length,
// and whether the reading was ended by strings.
func (s *sender) takeRecords(data []byte, b *ledger.Batch) (rest int, woken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	woken, s.woken = s.woken, false
	rest = s.stream.Consume(data, b)
	if s.stream.waits && (s.ended || rest == maxWaiting) {
		s.stream.fail(b)
		rest = 0
	}
	return rest, woken
}

// endRecords enters what is left when no more records come, as their strings come; what then is not understood is
// malformed, or was cut off.
func (s *sender) endRecords(data []byte, b *ledger.Batch) {
	late := time.After(lateStrings)
	for more := true; more; {
		rest, _ := s.takeRecords(data, b)
		data = data[:rest]
		if more = s.isWaiting(); more {
			select {
			case <-s.news:
			case <-late:
				more = false
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stream.waits && !s.stream.broken:
		s.stream.fail(b)
	case len(data) > 0:
		b.CutOff++
	}
	s.stream.End(b)
}

func (s *sender) isWaiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream.waits && !s.stream.broken
}

// takeStrings enters the whole ones into the registry, moves the rest to the front, and returns its length.
func (s *sender) takeStrings(data []byte, b *ledger.Batch) (rest int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := 0
	for !s.broken {
		size := s.string(data[used:], b)
		if size == 0 {
			break
		}
		used += size
	}
	s.tell()
	if s.broken {
		return 0
	}
	return copy(data, data[used:])
}

// string takes one: number, length in chars, text. It returns its size, or 0 if it has not arrived whole.
func (s *sender) string(data []byte, b *ledger.Batch) int {
	if len(data) < entryHead {
		return 0
	}
	id, chars := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	if chars > maxStringBytes || !s.stream.mayCome(id) {
		return s.fail(b)
	}
	length, whole := utf8Length(data[entryHead:], int(chars))
	if !s.stream.fits(length) {
		return s.fail(b)
	}
	if !whole {
		return 0
	}
	s.stream.enter(int32(id), data[entryHead:entryHead+length])
	return entryHead + length
}

// fail throws away what follows on both connections, which counts once.
func (s *sender) fail(b *ledger.Batch) int {
	s.broken = true
	if !s.stream.broken {
		s.stream.fail(b)
	}
	return 0
}

// endStrings says that no more come; so many bytes of one are left.
func (s *sender) endStrings(rest int, b *ledger.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest > 0 {
		b.CutOff++
	}
	s.ended = true
	s.tell()
}

// tell lets records be looked at again that wait. The lock is held.
func (s *sender) tell() {
	if s.stream.waits && !s.woken {
		s.woken = true
		s.wake()
	}
	select {
	case s.news <- struct{}{}:
	default:
	}
}
