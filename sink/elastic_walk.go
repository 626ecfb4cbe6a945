package main

import (
	"errors"
	"math"
)

// maxComposite is the most executions that one span may stand for.
const maxComposite = 1 << 20

var errNoEvent = errors.New("a line is no valid event")

// elasticWalk finds the records in the lines of Elastic's intake protocol: a transaction is the root of what belongs
// together, spans are the rest.
type elasticWalk struct {
	jsonWalk
	faulty bool // a line was no event
}

func newElasticWalk(recordName string, l *ledger) *elasticWalk {
	return &elasticWalk{jsonWalk: *newJSONWalk(recordName, l)}
}

// elasticEvent is what is read of a transaction or a span.
type elasticEvent struct {
	jsonSpan
	count   uint64 // executions that it stands for
	dropped uint64 // spans of the transaction that were not made
}

// line enters one line and returns the signal that it belongs to, "" for records and what introduces them. The line is
// an object with one member, whose key says what it is.
func (w *elasticWalk) line(line []byte) (signal string) {
	s := &w.scan
	*s = jsonScan{data: line}
	if s.peek() == 0 && s.ended() {
		return ""
	}
	known, isRecord := false, false
	event := elasticEvent{count: 1}
	for more := s.begin('{'); more; more = s.next('}') {
		known = true
		switch string(s.key()) {
		case "span", "transaction":
			isRecord = true
			w.event(&event)
			continue
		case "metadata":
		case "metricset":
			signal = metrics
		case "log":
			signal = logs
		case "error":
			signal = errorEvents
		default:
			known = false
		}
		s.skip()
	}
	if !s.ended() || !known || event.count < 1 || event.count > maxComposite {
		w.batch.malformed++
		w.faulty = true
		return signal
	}
	if !isRecord {
		return signal
	}
	if event.dropped > 0 {
		w.batch.limited++
		w.batch.left += int64(min(event.dropped, math.MaxUint32))
	}
	if string(event.name) != string(w.recordName) {
		w.batch.unexpected.add(event.name)
		return signal
	}
	event.more = uint32(event.count - 1)
	w.enter(&event.jsonSpan)
	return signal
}

// event reads a transaction or a span.
func (w *elasticWalk) event(e *elasticEvent) {
	s := &w.scan
	for more := s.begin('{'); more; more = s.next('}') {
		switch string(s.key()) {
		case "trace_id":
			e.trace = s.text()
		case "id":
			e.id = s.text()
		case "parent_id":
			e.parent = s.text()
		case "name":
			e.name = s.text()
		case "composite":
			w.member("count", &e.count)
		case "span_count":
			w.member("dropped", &e.dropped)
		default:
			s.skip()
		}
	}
}

// member reads an object and sets value to the number with the given key, if there is one.
func (w *elasticWalk) member(name string, value *uint64) {
	s := &w.scan
	for more := s.begin('{'); more; more = s.next('}') {
		if string(s.key()) != name {
			s.skip()
		} else if number, ok := s.natural(); ok {
			*value = number
		}
	}
}
