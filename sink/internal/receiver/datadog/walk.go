package datadog

import (
	"errors"
	"net/http"
	"strconv"
	"sync"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
	"tracetax/sink/internal/wire/msgpack"
)

const (
	// maxTableStrings is how many strings a message of version 0.5 may have beside its spans.
	maxTableStrings = 1 << 16
	// spanFields is how many fields a span of version 0.5 has.
	spanFields = 12

	notTold = -1
)

var (
	errTraceCount = errors.New("there are not as many traces as the header says")
	errHeader     = errors.New("a header that is to count is no number")
)

// walk finds the spans of a message of Datadog's protocol. Only the fields that place a span in its tree are
// looked at; all others are checked to be MessagePack and skipped.
type walk struct {
	recordName ledger.RecordName
	scan       msgpack.Scan
	strings    []uint32 // where the strings of a message of version 0.5 begin
	batch      *ledger.Batch
	ledger     *ledger.Ledger

	// What the headers say of the message.
	announced int64 // traces that are in it, or notTold
	garbled   bool
}

// tracerSpan is what is read of a span.
type tracerSpan struct {
	resource          []byte
	trace, id, parent uint64
	duration          int64
}

// newWalks makes walks over whole messages, which read takes.
func newWalks(recordName string, l *ledger.Ledger, read func(*walk) (traces int64)) *sync.Pool {
	return httpserver.NewWalks(func() *httpserver.Walk {
		w := &walk{recordName: ledger.RecordName(recordName), batch: ledger.NewBatch(ledger.BatchRecords), ledger: l}
		return &httpserver.Walk{Batch: w.batch, Headers: w.headers, Message: func(message []byte) error {
			w.scan = msgpack.Scan{Data: message}
			err := w.judge(read(w))
			// The message is not kept alive by a walk that waits for the next one.
			w.scan.Data = nil
			return err
		}}
	})
}

// headers reads what the headers say of the message that follows. Its drops count even if the message is refused or
// garbled: no other one will tell them again.
func (w *walk) headers(h http.Header) {
	w.garbled = false
	w.announced = w.count(h.Get("X-Datadog-Trace-Count"), notTold)
	w.batch.Drops = w.count(h.Get("Datadog-Client-Dropped-P0-Spans"), 0)
}

func (w *walk) count(text string, missing int64) int64 {
	if text == "" {
		return missing
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil || number < 0 {
		w.garbled = true
		return missing
	}
	return number
}

// judge says what is wrong with a message that had so many traces.
func (w *walk) judge(traces int64) error {
	switch {
	case !w.scan.Ended():
		return msgpack.ErrNoMsgpack
	case w.garbled:
		return errHeader
	case w.announced != notTold && w.announced != traces:
		return errTraceCount
	}
	return nil
}

// mapped enters the spans of versions 0.3 and 0.4: lists of traces, which are lists of spans, which are maps.
func (w *walk) mapped() (traces int64) {
	s := &w.scan
	for range s.Array() {
		for range s.Array() {
			if w.mappedSpan(); s.Failed {
				return traces
			}
		}
		if s.Failed {
			return traces
		}
		traces++
	}
	return traces
}

func (w *walk) mappedSpan() {
	s := &w.scan
	var span tracerSpan
	for range s.Pairs() {
		switch string(s.Text()) {
		case "resource":
			span.resource = s.Text()
		case "trace_id":
			span.trace, _ = s.Number()
		case "span_id":
			span.id, _ = s.Number()
		case "parent_id":
			span.parent, _ = s.Number()
		case "duration":
			duration, _ := s.Number()
			span.duration = int64(duration)
		default:
			s.Skip()
		}
		if s.Failed {
			return
		}
	}
	w.enter(&span)
}

// listed enters the spans of version 0.5: a list of strings, and traces whose spans are lists of numbers, and of
// places in the list of strings.
func (w *walk) listed() (traces int64) {
	s := &w.scan
	if s.Array() != 2 || !w.findStrings() {
		s.Fault()
		return 0
	}
	for range s.Array() {
		for range s.Array() {
			if w.listedSpan(); s.Failed {
				return traces
			}
		}
		if s.Failed {
			return traces
		}
		traces++
	}
	return traces
}

// findStrings notes where the strings of the message begin, and reports whether there are no more than may be.
func (w *walk) findStrings() bool {
	s := &w.scan
	count := s.Array()
	if count > maxTableStrings {
		return false
	}
	w.strings = w.strings[:0]
	for range count {
		w.strings = append(w.strings, uint32(s.At))
		s.Skip()
	}
	return true
}

// stringAt is the string with a number. One that is not there is empty.
func (w *walk) stringAt(number uint64) []byte {
	if number >= uint64(len(w.strings)) {
		return nil
	}
	s := msgpack.Scan{Data: w.scan.Data, At: int(w.strings[number])}
	return s.Text()
}

func (w *walk) listedSpan() {
	s := &w.scan
	if s.Array() != spanFields {
		s.Fault()
		return
	}
	s.Skip() // service
	s.Skip() // name
	resource, named := s.Number()
	var span tracerSpan
	span.trace, _ = s.Number()
	span.id, _ = s.Number()
	span.parent, _ = s.Number()
	s.Skip() // start
	duration, _ := s.Number()
	span.duration = int64(duration)
	s.Skip() // error
	s.Skip() // meta
	s.Skip() // metrics
	s.Skip() // type
	if s.Failed {
		return
	}
	if named {
		span.resource = w.stringAt(resource)
	}
	w.enter(&span)
}

// enter enters one span.
func (w *walk) enter(span *tracerSpan) {
	if !w.recordName.Is(span.resource) {
		w.batch.Unexpected.Add(span.resource)
		return
	}
	if span.trace == 0 || span.id == 0 {
		w.batch.Malformed++
		return
	}
	w.batch.Records = append(w.batch.Records, tree.Record{
		Tree:      tree.Key{Lo: span.trace},
		Node:      tree.Node{ID: span.id, Up: span.parent},
		Backwards: span.duration < 0,
	})
	if len(w.batch.Records) == ledger.BatchRecords {
		w.ledger.Apply(w.batch)
	}
}
