package elastic

import (
	"errors"
	"math"

	"tracetax/sink/internal/jsonspan"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/wire/jsonscan"
)

// maxComposite is the most executions that one span may stand for.
const maxComposite = 1 << 20

var errNoEvent = errors.New("a line is no valid event")

// walk finds the records in the lines of Elastic's intake protocol: a transaction is the root of what belongs
// together, spans are the rest.
type walk struct {
	jsonspan.Walk
	faulty bool // a line was no event
}

func newWalk(recordName string, l *ledger.Ledger) *walk {
	return &walk{Walk: *jsonspan.New(recordName, l)}
}

// event is what is read of a transaction or a span.
type event struct {
	jsonspan.Span
	count   uint64 // executions that it stands for
	dropped uint64 // spans of the transaction that were not made
}

// line enters one line and returns the signal that it belongs to, "" for records and what introduces them. The line is
// an object with one member, whose key says what it is.
func (w *walk) line(line []byte) (signal string) {
	s := &w.Scan
	*s = jsonscan.Scan{Data: line}
	if s.Peek() == 0 && s.Ended() {
		return ""
	}
	known, isRecord := false, false
	event := event{count: 1}
	for more := s.Begin('{'); more; more = s.Next('}') {
		known = true
		switch string(s.Key()) {
		case "span", "transaction":
			isRecord = true
			w.event(&event)
			continue
		case "metadata":
		case "metricset":
			signal = ledger.Metrics
		case "log":
			signal = ledger.Logs
		case "error":
			signal = errorEvents
		default:
			known = false
		}
		s.Skip()
	}
	if !s.Ended() || !known || event.count < 1 || event.count > maxComposite {
		w.Batch.Malformed++
		w.faulty = true
		return signal
	}
	if !isRecord {
		return signal
	}
	if event.dropped > 0 {
		w.Batch.Limited++
		w.Batch.Left += int64(min(event.dropped, math.MaxUint32))
	}
	if !w.RecordName.Is(event.Name) {
		w.Batch.Unexpected.Add(event.Name)
		return signal
	}
	event.More = uint32(event.count - 1)
	w.Enter(&event.Span)
	return signal
}

// event reads a transaction or a span.
func (w *walk) event(e *event) {
	s := &w.Scan
	for more := s.Begin('{'); more; more = s.Next('}') {
		switch string(s.Key()) {
		case "trace_id":
			e.Trace = s.Text()
		case "id":
			e.ID = s.Text()
		case "parent_id":
			e.Parent = s.Text()
		case "name":
			e.Name = s.Text()
		case "composite":
			w.member("count", &e.count)
		case "span_count":
			w.member("dropped", &e.dropped)
		default:
			s.Skip()
		}
	}
}

// member reads an object and sets value to the number with the given key, if there is one.
func (w *walk) member(name string, value *uint64) {
	s := &w.Scan
	for more := s.Begin('{'); more; more = s.Next('}') {
		if string(s.Key()) != name {
			s.Skip()
		} else if number, ok := s.Natural(); ok {
			*value = number
		}
	}
}
