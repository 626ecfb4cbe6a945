// Package message reads whole messages into memory that all protocols share.
package message

import (
	"io"
	"math/bits"
	"sync"
	"time"
)

const (
	smallestMessage = 64 << 10
	// pooledMessage is the largest buffer that is kept for the next message.
	pooledMessage = 4 << 20
	// growth is by how much memory may run ahead of what has arrived, as long as more is announced.
	growth = 8
)

// Memory reads whole messages into memory that all protocols share. What is reserved grows with what has really
// arrived, so a sender that announces much and sends little holds little.
type Memory struct {
	// Limit is the most bytes of one message.
	Limit  int64
	budget *budget
	// pools keep buffers by size: 64 KiB and its doubles, up to pooledMessage.
	pools [7]sync.Pool
}

// NewMemory has room for messages of at most limit bytes, and of so many bytes together.
func NewMemory(limit, together int64) *Memory {
	return &Memory{Limit: limit, budget: &budget{limit: together}}
}

// Held is how many bytes are reserved.
func (m *Memory) Held() int64 {
	return m.budget.used.Load()
}

// Take reserves n bytes for what is held otherwise, and reports whether they were left.
func (m *Memory) Take(n int64) bool { return m.budget.take(n) }

// Give gives reserved bytes back.
func (m *Memory) Give(n int64) { m.budget.give(n) }

// Message is what has arrived of a message so far; Release gives its memory back.
type Message struct {
	Bytes []byte
	from  *Memory
	size  int64 // expected, or -1
}

// Begin is a message of which nothing has arrived; announced is its expected length, or -1.
func (m *Memory) Begin(announced int64) (Message, error) {
	if announced > m.Limit {
		return Message{from: m}, ErrTooLarge
	}
	return Message{from: m, size: announced}, nil
}

// Read reads to the end of r; announced is the expected length, or -1. Errors: ErrTooLarge, ErrBusy, or what r says.
// The message holds what arrived before the error, and is to be released in any case.
func (m *Memory) Read(r io.Reader, announced int64) (Message, error) {
	arriving, err := m.Begin(announced)
	if err != nil {
		return arriving, err
	}
	for {
		room, err := arriving.Room()
		if err != nil {
			return arriving, err
		}
		n, err := r.Read(room)
		arriving.Add(n)
		if err == io.EOF {
			return arriving, nil
		}
		if err != nil {
			return arriving, err
		}
	}
}

// Room returns a place for at least one more byte, or ErrTooLarge, ErrBusy.
func (a *Message) Room() ([]byte, error) {
	if len(a.Bytes) == cap(a.Bytes) {
		if int64(len(a.Bytes)) > a.from.Limit {
			return nil, ErrTooLarge
		}
		larger := a.from.Buffer(a.next())
		if larger == nil {
			return nil, ErrBusy
		}
		larger = append(larger, a.Bytes...)
		a.Release()
		a.Bytes = larger
	}
	return a.Bytes[len(a.Bytes):cap(a.Bytes)], nil
}

// next is how large a full buffer is to become. One byte more than the message has lets its end be seen.
func (a *Message) next() int64 {
	held := int64(cap(a.Bytes))
	size := max(2*held, smallestMessage)
	if held > 0 && size <= a.size {
		size = min(growth*held, a.size+1)
	}
	if size <= pooledMessage {
		size = smallestMessage << class(size)
	}
	return min(size, a.from.Limit+1)
}

// Add says that n bytes have been put where room said.
func (a *Message) Add(n int) {
	a.Bytes = a.Bytes[:len(a.Bytes)+n]
}

// Release gives the memory of the message back.
func (a *Message) Release() {
	if cap(a.Bytes) > 0 {
		a.from.Release(a.Bytes)
		a.Bytes = nil
	}
}

// class is which pool has buffers of at least the size.
func class(size int64) int {
	return bits.Len64(uint64(max(size, smallestMessage)-1) / smallestMessage)
}

// Buffer returns an empty one of the capacity, or nil if the budget has no room for it.
func (m *Memory) Buffer(size int64) []byte {
	if !m.budget.take(size) {
		return nil
	}
	if size <= pooledMessage && size == smallestMessage<<class(size) {
		if pooled, ok := m.pools[class(size)].Get().(*[]byte); ok {
			return (*pooled)[:0]
		}
	}
	return make([]byte, 0, size)
}

// Release gives a buffer back, which may be used for another message.
func (m *Memory) Release(buffer []byte) {
	size := int64(cap(buffer))
	m.budget.give(size)
	if size <= pooledMessage && size == smallestMessage<<class(size) {
		buffer = buffer[:0]
		m.pools[class(size)].Put(&buffer)
	}
}

// Time is how long a message may take to arrive: a sender that stops in between holds memory no longer.
const Time = 60 * time.Second
