package main

import "sync"

func newOTLPJSONWalks(recordName string, l *ledger) *sync.Pool {
	return newJSONWalks(recordName, l, (*jsonWalk).otlp)
}

// otlp enters the spans of an ExportTraceServiceRequest in OTLP's mapping to JSON: ids are hexadecimal, 64 bit numbers
// are strings, keys are in lowerCamelCase.
func (w *jsonWalk) otlp() error {
	s := &w.scan
	if s.peek() != '{' {
		return errNoJSON
	}
	w.within("resourceSpans", func() {
		w.within("scopeSpans", func() {
			w.within("spans", w.otlpSpan)
		})
	})
	if !s.ended() {
		return errNoJSON
	}
	return nil
}

// within reads an object and calls visit for each element of the array with the given key.
func (w *jsonWalk) within(name string, visit func()) {
	s := &w.scan
	for more := s.begin('{'); more; more = s.next('}') {
		if string(s.key()) != name {
			s.skip()
			continue
		}
		for more := s.begin('['); more; more = s.next(']') {
			visit()
		}
	}
}

func (w *jsonWalk) otlpSpan() {
	s := &w.scan
	var span jsonSpan
	var start, end uint64
	for more := s.begin('{'); more; more = s.next('}') {
		switch string(s.key()) {
		case "traceId":
			span.trace = s.text()
		case "spanId":
			span.id = s.text()
		case "parentSpanId":
			span.parent = s.text()
		case "name":
			span.name = s.text()
		case "startTimeUnixNano":
			start, _ = s.natural()
		case "endTimeUnixNano":
			end, _ = s.natural()
		default:
			s.skip()
		}
	}
	if s.failed {
		return
	}
	if string(span.name) != string(w.recordName) {
		w.batch.unexpected.add(span.name)
		return
	}
	span.backwards = end < start
	w.enter(&span)
}
