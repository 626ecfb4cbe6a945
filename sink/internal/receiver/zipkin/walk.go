package zipkin

import (
	"sync"

	"tracetax/sink/internal/jsonspan"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/wire/jsonscan"
)

func newWalks(recordName string, l *ledger.Ledger) *sync.Pool {
	return jsonspan.NewWalks(string(lower([]byte(recordName))), l, readSpans)
}

// readSpans enters the spans of a list. The expected name is in lower case.
func readSpans(w *jsonspan.Walk) error {
	s := &w.Scan
	if s.Peek() != '[' {
		return jsonscan.ErrNoJSON
	}
	for more := s.Begin('['); more; more = s.Next(']') {
		readSpan(w)
	}
	if !s.Ended() {
		return jsonscan.ErrNoJSON
	}
	return nil
}

// readSpan enters one span.
func readSpan(w *jsonspan.Walk) {
	s := &w.Scan
	var span jsonspan.Span
	for more := s.Begin('{'); more; more = s.Next('}') {
		switch string(s.Key()) {
		case "traceId":
			span.Trace = s.Text()
		case "id":
			span.ID = s.Text()
		case "parentId":
			span.Parent = s.Text()
		case "name":
			span.Name = s.Text()
		default:
			s.Skip()
		}
	}
	if s.Failed {
		return
	}
	if !w.RecordName.Is(span.Name) && !w.RecordName.Is(lower(span.Name)) {
		w.Batch.Unexpected.Add(span.Name)
		return
	}
	w.Enter(&span)
}

// lower writes ASCII's letters in lower case, in their place.
func lower(name []byte) []byte {
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			name[i] = c + 'a' - 'A'
		}
	}
	return name
}
