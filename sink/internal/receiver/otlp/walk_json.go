package otlp

import (
	"sync"

	"tracetax/sink/internal/jsonspan"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/wire/jsonscan"
)

func newJSONWalks(recordName string, l *ledger.Ledger) *sync.Pool {
	return jsonspan.NewWalks(recordName, l, readJSON)
}

// readJSON enters the spans of an ExportTraceServiceRequest in OTLP's mapping to JSON: ids are hexadecimal, 64 bit numbers
// are strings, keys are in lowerCamelCase.
func readJSON(w *jsonspan.Walk) error {
	s := &w.Scan
	if s.Peek() != '{' {
		return jsonscan.ErrNoJSON
	}
	within(s, "resourceSpans", func() {
		within(s, "scopeSpans", func() { readJSONScope(w) })
	})
	if !s.Ended() {
		return jsonscan.ErrNoJSON
	}
	return nil
}

// within reads an object and calls visit for each element of the array with the given key.
func within(s *jsonscan.Scan, name string, visit func()) {
	for more := s.Begin('{'); more; more = s.Next('}') {
		if string(s.Key()) != name {
			s.Skip()
			continue
		}
		for more := s.Begin('['); more; more = s.Next(']') {
			visit()
		}
	}
}

// readJSONScope enters the spans of a scope, and how many they are under its name.
func readJSONScope(w *jsonspan.Walk) {
	s := &w.Scan
	var made int64
	var name []byte
	for more := s.Begin('{'); more; more = s.Next('}') {
		switch string(s.Key()) {
		case "scope":
			for more := s.Begin('{'); more; more = s.Next('}') {
				if string(s.Key()) == "name" {
					name = append([]byte(nil), s.Text()...)
				} else {
					s.Skip()
				}
			}
		case "spans":
			for more := s.Begin('['); more; more = s.Next(']') {
				readJSONSpan(w)
				made++
			}
		default:
			s.Skip()
		}
	}
	if made > 0 && len(name) > 0 && !s.Failed {
		w.Batch.Scopes.AddBytes(name, made)
	}
}

// readJSONSpan enters one span.
func readJSONSpan(w *jsonspan.Walk) {
	s := &w.Scan
	var span jsonspan.Span
	var start, end uint64
	for more := s.Begin('{'); more; more = s.Next('}') {
		switch string(s.Key()) {
		case "traceId":
			span.Trace = s.Text()
		case "spanId":
			span.ID = s.Text()
		case "parentSpanId":
			span.Parent = s.Text()
		case "name":
			span.Name = s.Text()
		case "startTimeUnixNano":
			start, _ = s.Natural()
		case "endTimeUnixNano":
			end, _ = s.Natural()
		default:
			s.Skip()
		}
	}
	if s.Failed {
		return
	}
	if !w.RecordName.Is(span.Name) {
		w.Batch.Unexpected.Add(span.Name)
		return
	}
	span.Backwards = end < start
	w.Enter(&span)
}
