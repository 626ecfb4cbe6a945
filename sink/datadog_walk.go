package main

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
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

// datadogWalk finds the spans of a message of Datadog's protocol. Only the fields that place a span in its tree are
// looked at; all others are checked to be MessagePack and skipped.
type datadogWalk struct {
	recordName []byte
	scan       msgpackScan
	strings    []uint32 // where the strings of a message of version 0.5 begin
	batch      *batch
	ledger     *ledger

	// What the headers say of the message.
	announced int64 // traces that are in it, or notTold
	garbled   bool
}

// datadogSpan is what is read of a span.
type datadogSpan struct {
	resource          []byte
	trace, id, parent uint64
	duration          int64
}

// newDatadogWalks makes walks over whole messages, which read takes.
func newDatadogWalks(recordName string, l *ledger, read func(*datadogWalk) (traces int64)) *sync.Pool {
	return newWalks(func() *walk {
		w := &datadogWalk{recordName: []byte(recordName), batch: newBatch(spansPerBatch), ledger: l}
		return &walk{batch: w.batch, headers: w.headers, message: func(message []byte) error {
			w.scan = msgpackScan{data: message}
			err := w.judge(read(w))
			// The message is not kept alive by a walk that waits for the next one.
			w.scan.data = nil
			return err
		}}
	})
}

// headers reads what the headers say of the message that follows. Its drops count even if the message is refused or
// garbled: no other one will tell them again.
func (w *datadogWalk) headers(h http.Header) {
	w.garbled = false
	w.announced = w.count(h.Get("X-Datadog-Trace-Count"), notTold)
	w.batch.drops = w.count(h.Get("Datadog-Client-Dropped-P0-Spans"), 0)
}

func (w *datadogWalk) count(text string, missing int64) int64 {
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
func (w *datadogWalk) judge(traces int64) error {
	switch {
	case !w.scan.ended():
		return errNoMsgpack
	case w.garbled:
		return errHeader
	case w.announced != notTold && w.announced != traces:
		return errTraceCount
	}
	return nil
}

// mapped enters the spans of versions 0.3 and 0.4: lists of traces, which are lists of spans, which are maps.
func (w *datadogWalk) mapped() (traces int64) {
	s := &w.scan
	for range s.array() {
		for range s.array() {
			if w.mappedSpan(); s.failed {
				return traces
			}
		}
		if s.failed {
			return traces
		}
		traces++
	}
	return traces
}

func (w *datadogWalk) mappedSpan() {
	s := &w.scan
	var span datadogSpan
	for range s.pairs() {
		switch string(s.text()) {
		case "resource":
			span.resource = s.text()
		case "trace_id":
			span.trace, _ = s.number()
		case "span_id":
			span.id, _ = s.number()
		case "parent_id":
			span.parent, _ = s.number()
		case "duration":
			duration, _ := s.number()
			span.duration = int64(duration)
		default:
			s.skip()
		}
		if s.failed {
			return
		}
	}
	w.enter(&span)
}

// listed enters the spans of version 0.5: a list of strings, and traces whose spans are lists of numbers, and of
// places in the list of strings.
func (w *datadogWalk) listed() (traces int64) {
	s := &w.scan
	if s.array() != 2 || !w.findStrings() {
		s.fault()
		return 0
	}
	for range s.array() {
		for range s.array() {
			if w.listedSpan(); s.failed {
				return traces
			}
		}
		if s.failed {
			return traces
		}
		traces++
	}
	return traces
}

// findStrings notes where the strings of the message begin, and reports whether there are no more than may be.
func (w *datadogWalk) findStrings() bool {
	s := &w.scan
	count := s.array()
	if count > maxTableStrings {
		return false
	}
	w.strings = w.strings[:0]
	for range count {
		w.strings = append(w.strings, uint32(s.at))
		s.skip()
	}
	return true
}

// stringAt is the string with a number. One that is not there is empty.
func (w *datadogWalk) stringAt(number uint64) []byte {
	if number >= uint64(len(w.strings)) {
		return nil
	}
	s := msgpackScan{data: w.scan.data, at: int(w.strings[number])}
	return s.text()
}

func (w *datadogWalk) listedSpan() {
	s := &w.scan
	if s.array() != spanFields {
		s.fault()
		return
	}
	s.skip() // service
	s.skip() // name
	resource, named := s.number()
	var span datadogSpan
	span.trace, _ = s.number()
	span.id, _ = s.number()
	span.parent, _ = s.number()
	s.skip() // start
	duration, _ := s.number()
	span.duration = int64(duration)
	s.skip() // error
	s.skip() // meta
	s.skip() // metrics
	s.skip() // type
	if s.failed {
		return
	}
	if named {
		span.resource = w.stringAt(resource)
	}
	w.enter(&span)
}

// enter enters one span.
func (w *datadogWalk) enter(span *datadogSpan) {
	if string(span.resource) != string(w.recordName) {
		w.batch.unexpected.add(span.resource)
		return
	}
	if span.trace == 0 || span.id == 0 {
		w.batch.malformed++
		return
	}
	w.batch.records = append(w.batch.records, record{
		tree:      treeKey{lo: span.trace},
		node:      node{id: span.id, up: span.parent},
		backwards: span.duration < 0,
	})
	if len(w.batch.records) == spansPerBatch {
		w.ledger.apply(w.batch)
	}
}
