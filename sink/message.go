package main

import (
	"errors"
	"io"
	"math/bits"
	"sync"
)

const (
	smallestMessage = 64 << 10
	// pooledMessage is the largest buffer that is kept for the next message.
	pooledMessage = 4 << 20
	// growth is by how much memory may run ahead of what has arrived, as long as more is announced.
	growth = 8
)

var (
	errTooLarge = errors.New("message is larger than the limit")
	errBusy     = errors.New("too many bytes of messages are held already")
)

// messages reads whole messages into memory that all protocols share. What is reserved grows with what has really
// arrived, so a sender that announces much and sends little holds little.
type messages struct {
	limit  int64
	budget *budget
	// pools keep buffers by size: 64 KiB and its doubles, up to pooledMessage.
	pools [7]sync.Pool
}

func newMessages(limit, together int64) *messages {
	return &messages{limit: limit, budget: &budget{limit: together}}
}

// message is what has arrived of a message so far; release gives its memory back.
type message struct {
	bytes []byte
	from  *messages
	size  int64 // expected, or -1
}

// begin is a message of which nothing has arrived; announced is its expected length, or -1.
func (m *messages) begin(announced int64) (message, error) {
	if announced > m.limit {
		return message{from: m}, errTooLarge
	}
	return message{from: m, size: announced}, nil
}

// read reads to the end of r; announced is the expected length, or -1. Errors: errTooLarge, errBusy, or what r says.
// The message holds what arrived before the error, and is to be released in any case.
func (m *messages) read(r io.Reader, announced int64) (message, error) {
	arriving, err := m.begin(announced)
	if err != nil {
		return arriving, err
	}
	for {
		room, err := arriving.room()
		if err != nil {
			return arriving, err
		}
		n, err := r.Read(room)
		arriving.add(n)
		if err == io.EOF {
			return arriving, nil
		}
		if err != nil {
			return arriving, err
		}
	}
}

// room returns a place for at least one more byte, or errTooLarge, errBusy.
func (a *message) room() ([]byte, error) {
	if len(a.bytes) == cap(a.bytes) {
		if int64(len(a.bytes)) > a.from.limit {
			return nil, errTooLarge
		}
		larger := a.from.buffer(a.next())
		if larger == nil {
			return nil, errBusy
		}
		larger = append(larger, a.bytes...)
		a.release()
		a.bytes = larger
	}
	return a.bytes[len(a.bytes):cap(a.bytes)], nil
}

// next is how large a full buffer is to become. One byte more than the message has lets its end be seen.
func (a *message) next() int64 {
	held := int64(cap(a.bytes))
	size := max(2*held, smallestMessage)
	if held > 0 && size <= a.size {
		size = min(growth*held, a.size+1)
	}
	if size <= pooledMessage {
		size = smallestMessage << class(size)
	}
	return min(size, a.from.limit+1)
}

// add says that n bytes have been put where room said.
func (a *message) add(n int) {
	a.bytes = a.bytes[:len(a.bytes)+n]
}

func (a *message) release() {
	if cap(a.bytes) > 0 {
		a.from.release(a.bytes)
		a.bytes = nil
	}
}

// class is which pool has buffers of at least the size.
func class(size int64) int {
	return bits.Len64(uint64(max(size, smallestMessage)-1) / smallestMessage)
}

// buffer returns an empty one of the capacity, or nil if the budget has no room for it.
func (m *messages) buffer(size int64) []byte {
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

func (m *messages) release(buffer []byte) {
	size := int64(cap(buffer))
	m.budget.give(size)
	if size <= pooledMessage && size == smallestMessage<<class(size) {
		buffer = buffer[:0]
		m.pools[class(size)].Put(&buffer)
	}
}
