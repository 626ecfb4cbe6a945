package elastic

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
)

const (
	// inflateBytes is what undoing a compression holds: window, tables and a buffer.
	inflateBytes = 64 << 10
	// shortLine is the memory for lines that every open request has.
	shortLine = 64 << 10
)

// intake reads the events of one request, each as soon as its line has arrived, however long the request stays open.
// A long line takes part in the memory for messages.
type intake struct {
	walk     *walk
	messages *message.Memory
	small    []byte // for short lines
	large    []byte // for a long one; nil for none

	arrived  message.CountingReader
	entered  int64            // bytes as they arrived that are entered
	plain    int64            // inflated bytes that are not
	own      int64            // of these, what is done with of records and what introduces them
	others   map[string]int64 // and of other signals
	tooLarge bool             // the line that has not ended is longer than the limit
}

func newIntakes(recordName string, l *ledger.Ledger, m *message.Memory) *sync.Pool {
	return &sync.Pool{New: func() any {
		return &intake{
			walk:     newWalk(recordName, l),
			messages: m,
			small:    make([]byte, shortLine),
			others:   map[string]int64{},
		}
	}}
}

// read enters the events until the request ends. The time that a sender may be silent is renewed by patience before
// each read, except while a long line is held. The error says why not all was accepted; the ledger knows already.
func (in *intake) read(body io.Reader, encoding string, patience func()) error {
	b := in.walk.Batch
	in.arrived = message.CountingReader{Reader: body}
	in.plain, in.own, in.entered, in.tooLarge, in.walk.faulty = 0, 0, 0, false, false
	b.Requests = 1
	patience()
	plain, err := message.Inflate(&in.arrived, encoding)
	buffer := in.small[:0]
	defer in.shrink()
	for err == nil {
		if in.large == nil {
			patience()
		}
		held := len(buffer)
		var n int
		n, err = plain.Read(buffer[held:cap(buffer)])
		b.ArrivalNs = clock.MonotonicNs()
		in.plain += int64(n)
		buffer = buffer[:in.lines(buffer[:held+n], held)]
		in.enter()
		if fitted, ok := in.fit(buffer); ok {
			buffer = fitted
		} else if err == nil {
			err = message.ErrBusy
		}
	}
	err = in.end(buffer, err)
	b.Bytes += in.arrived.Count - in.entered
	in.walk.Ledger.Apply(b)
	if err == nil && in.walk.faulty {
		err = errNoEvent
	}
	return err
}

// lines enters the whole lines of the buffer, of which so many bytes were searched already, moves the rest to its
// beginning, and returns how much that is.
func (in *intake) lines(buffer []byte, searched int) int {
	rest := buffer
	for {
		end := bytes.IndexByte(rest[searched:], '\n')
		if end < 0 {
			if len(rest) < len(buffer) {
				copy(buffer, rest)
			}
			return len(rest)
		}
		in.line(rest[:searched+end], 1)
		rest, searched = rest[searched+end+1:], 0
	}
}

// line enters a line that is followed by so many bytes.
func (in *intake) line(line []byte, more int) {
	signal := ""
	if in.tooLarge {
		in.tooLarge = false
	} else {
		signal = in.walk.line(line)
	}
	if signal == "" {
		in.own += int64(len(line) + more)
	} else {
		in.others[signal] += int64(len(line) + more)
	}
}

// enter tells the ledger what whole lines have brought. Their bytes as they arrived are a share of those that are not
// entered: the same as of those inflated. So never more is entered than has arrived, whichever phase it is.
func (in *intake) enter() {
	b, l := in.walk.Batch, in.walk.Ledger
	if in.plain == 0 {
		return
	}
	share := float64(in.arrived.Count-in.entered) / float64(in.plain)
	b.Bytes = int64(float64(in.own) * share)
	in.entered += b.Bytes
	in.plain -= in.own
	in.own = 0
	for signal, bytes := range in.others {
		if bytes > 0 {
			other := int64(float64(bytes) * share)
			l.Other(signal, other)
			in.entered += other
			in.plain -= bytes
			in.others[signal] = 0
		}
	}
	l.Apply(b)
}

// fit returns the buffer with room for more: a larger one for a long line, the small one again after it. A line that
// is longer than a message may be is given up until its end. False: there is no memory for it.
func (in *intake) fit(buffer []byte) ([]byte, bool) {
	switch {
	case in.tooLarge || int64(len(buffer)) > in.messages.Limit:
		if !in.tooLarge {
			in.tooLarge, in.walk.faulty = true, true
			in.walk.Batch.Malformed++
		}
		in.own += int64(len(buffer))
		in.shrink()
		return in.small[:0], true
	case len(buffer) == cap(buffer):
		larger := in.messages.Buffer(min(2*int64(cap(buffer)), in.messages.Limit+1))
		if larger == nil {
			return buffer, false
		}
		larger = append(larger, buffer...)
		in.shrink()
		in.large = larger
		return larger, true
	case in.large != nil && len(buffer) < len(in.small)/2:
		copy(in.small, buffer)
		in.shrink()
		return in.small[:len(buffer)], true
	}
	return buffer, true
}

// shrink gives the memory for a long line back. The scan of it would keep it alive.
func (in *intake) shrink() {
	if in.large != nil {
		in.walk.Scan.Data = nil
		in.messages.Release(in.large)
		in.large = nil
	}
}

// end enters how the request ended, with what is left of a line.
func (in *intake) end(rest []byte, err error) error {
	b, l := in.walk.Batch, in.walk.Ledger
	unfinished := in.tooLarge || len(bytes.TrimSpace(rest)) > 0
	switch {
	case err == message.ErrBusy:
		l.Refuse()
		return err
	case err == io.EOF:
		if unfinished {
			in.line(rest, 0)
			in.enter()
		}
		return nil
	case !in.arrived.Broken:
		b.Malformed++
		return err
	case unfinished:
		b.CutOff++
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		// It had nothing more to say.
		return nil
	default:
		return err
	}
}
