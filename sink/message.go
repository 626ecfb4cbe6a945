package main

import (
	"errors"
	"io"
	"sync"
)

const (
	smallestMessage = 64 << 10
	// pooledMessage is the largest buffer that is kept for the next message.
	pooledMessage = 4 << 20
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
	pool   sync.Pool
}

func newMessages(limit, together int64) *messages {
	return &messages{limit: limit, budget: &budget{limit: together}}
}

// message is what was read; release gives its memory back.
type message struct {
	bytes   []byte
	release func()
}

// read reads to the end of r; announced is the expected length, or -1. Errors: errTooLarge, errBusy, or what r says.
// The message holds what arrived before the error, and is to be released in any case.
func (m *messages) read(r io.Reader, announced int64) (message, error) {
	if announced > m.limit {
		return message{release: func() {}}, errTooLarge
	}
	size := min(max(announced+1, smallestMessage), pooledMessage, m.limit+1)
	buffer := m.buffer(size)
	if buffer == nil {
		return message{release: func() {}}, errBusy
	}
	for {
		if len(buffer) == cap(buffer) {
			if int64(len(buffer)) > m.limit {
				return m.done(buffer), errTooLarge
			}
			larger := m.buffer(min(2*int64(cap(buffer)), m.limit+1))
			if larger == nil {
				return m.done(buffer), errBusy
			}
			larger = append(larger, buffer...)
			m.release(buffer)
			buffer = larger
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err == io.EOF {
			return m.done(buffer), nil
		}
		if err != nil {
			return m.done(buffer), err
		}
	}
}

func (m *messages) done(buffer []byte) message {
	return message{bytes: buffer, release: func() { m.release(buffer) }}
}

// buffer returns an empty one with at least the given capacity, or nil if the budget has no room for it.
func (m *messages) buffer(size int64) []byte {
	if pooled, ok := m.pool.Get().(*[]byte); ok && int64(cap(*pooled)) >= size {
		if !m.budget.take(int64(cap(*pooled))) {
			return nil
		}
		return (*pooled)[:0]
	}
	if !m.budget.take(size) {
		return nil
	}
	return make([]byte, 0, size)
}

func (m *messages) release(buffer []byte) {
	m.budget.give(int64(cap(buffer)))
	if cap(buffer) <= pooledMessage {
		buffer = buffer[:0]
		m.pool.Put(&buffer)
	}
}
