package httpserver

import (
	"io"
	"net/http"
	"sync"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
)

// Walk finds the records in messages of one format. Those before the fault in a garbled message are in the batch, or
// in the ledger already.
type Walk struct {
	Batch   *ledger.Batch
	Message func([]byte) error
	// Headers is told of those of the message before it, where they say something about records.
	Headers func(http.Header)
}

// NewWalks keeps walks for further messages.
func NewWalks(create func() *Walk) *sync.Pool {
	return &sync.Pool{New: func() any { return create() }}
}

// Take reads the message of a request and enters it. The error says why it was not accepted; the ledger knows already.
func (h *Receiver) Take(walks *sync.Pool, r *http.Request) error {
	arrived, announced := &message.CountingReader{Reader: r.Body}, r.ContentLength
	plain, err := message.Inflate(arrived, r.Header.Get("Content-Encoding"))
	if plain != arrived {
		announced = -1
	}
	var m message.Message
	if err == nil {
		m, err = h.messages.Read(plain, announced)
		defer m.Release()
	}
	w := walks.Get().(*Walk)
	defer walks.Put(w)
	w.Batch.ArrivalNs = clock.MonotonicNs()
	w.Batch.Requests = 1
	w.Batch.Bytes = arrived.Count
	if w.Headers != nil {
		w.Headers(r.Header)
	}
	switch err {
	case nil:
		err = w.Message(m.Bytes)
		if err != nil {
			w.Batch.Malformed++
		}
	case message.ErrBusy:
		h.ledger.Refuse()
	default:
		if arrived.Broken {
			w.Batch.CutOff++
			w.Batch.Drops = 0 // its sender may send it again
		} else {
			w.Batch.Malformed++
		}
	}
	h.ledger.Apply(w.Batch)
	return err
}

// Pass counts the bytes of a message that carries no records.
func (h *Receiver) Pass(signal string, body io.Reader) error {
	size, err := io.Copy(io.Discard, io.LimitReader(body, h.messages.Limit))
	h.ledger.Other(signal, size)
	return err
}
