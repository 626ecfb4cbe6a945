package main

import (
	"net/http"
	"sync"
)

// zipkin is Zipkin's protocol, version 2: arrays of spans in JSON. Its spans have their names in lower case, so upper
// and lower case letters of ASCII are not told apart. They have a beginning and a duration in whole microseconds, so
// none ends before it starts.
var zipkin = protocol{
	connectionBytes: httpBuffers,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		mux := http.NewServeMux()
		z := newHTTPReceiver(l, m, mux)
		walks := newZipkinWalks(recordName, l)
		mux.HandleFunc("POST /api/v2/spans", func(w http.ResponseWriter, r *http.Request) {
			if mediaOf(r) != jsonMedia {
				l.reject()
				http.Error(w, "only "+jsonMedia+" is understood", http.StatusUnsupportedMediaType)
				return
			}
			limitTime(w)
			if err := z.take(walks, r); err != nil {
				deny(w, err)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		})
		mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
			accept(w, jsonMedia, `{"status":"UP"}`)
		})
		return z
	},
}

func newZipkinWalks(recordName string, l *ledger) *sync.Pool {
	return newJSONWalks(string(lower([]byte(recordName))), l, (*jsonWalk).zipkin)
}

// zipkin enters the spans of a list. The expected name is in lower case.
func (w *jsonWalk) zipkin() error {
	s := &w.scan
	if s.peek() != '[' {
		return errNoJSON
	}
	for more := s.begin('['); more; more = s.next(']') {
		w.zipkinSpan()
	}
	if !s.ended() {
		return errNoJSON
	}
	return nil
}

func (w *jsonWalk) zipkinSpan() {
	s := &w.scan
	var span jsonSpan
	for more := s.begin('{'); more; more = s.next('}') {
		switch string(s.key()) {
		case "traceId":
			span.trace = s.text()
		case "id":
			span.id = s.text()
		case "parentId":
			span.parent = s.text()
		case "name":
			span.name = s.text()
		default:
			s.skip()
		}
	}
	if s.failed {
		return
	}
	if string(span.name) != string(w.recordName) && string(lower(span.name)) != string(w.recordName) {
		w.batch.unexpected.add(span.name)
		return
	}
	w.enter(&span)
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
