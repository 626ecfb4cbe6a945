package main

import (
	"net/http"
	"sync"
)

const (
	// Types of Application Insights' telemetry that are spans.
	insightsRequest    = "RequestData"
	insightsDependency = "RemoteDependencyData"

	insightsLive = "live metrics"

	// insightsAccepted says that nothing was turned away.
	insightsAccepted = `{"errors":[]}`
)

// insights is the ingestion protocol of Azure Monitor's Application Insights: telemetry in JSON, one item per line. An
// item that is a request is the root of what belongs together, dependencies are the rest.
var insights = protocol{
	signals:         []string{metrics, insightsLive},
	connectionBytes: httpBuffers,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		mux := http.NewServeMux()
		h := newHTTPReceiver(l, m, mux)
		walks := newInsightsWalks(recordName, l)
		mux.HandleFunc("POST /v2.1/track", func(w http.ResponseWriter, r *http.Request) {
			limitTime(w)
			if err := h.take(walks, r); err != nil {
				deny(w, err)
				return
			}
			accept(w, jsonMedia, insightsAccepted)
		})
		mux.HandleFunc("GET /api/profiles/{key}/appId", func(w http.ResponseWriter, r *http.Request) {
			accept(w, "text/plain", r.PathValue("key"))
		})
		mux.HandleFunc("POST /QuickPulseService.svc/{action}", func(w http.ResponseWriter, r *http.Request) {
			limitTime(w)
			// Nobody watches.
			w.Header().Set("x-ms-qps-subscribed", "false")
			if err := h.pass(insightsLive, r.Body); err != nil {
				deny(w, err)
			}
		})
		return h
	},
}

// insightsWalk finds the spans among the items of a message.
type insightsWalk struct {
	jsonWalk
	spans bool // there was one
}

func newInsightsWalks(recordName string, l *ledger) *sync.Pool {
	return newWalks(func() *walk {
		w := &insightsWalk{jsonWalk: *newJSONWalk(recordName, l)}
		return &walk{batch: w.batch, message: w.message}
	})
}

// message enters the spans of a message. One without any brought other telemetry, and its bytes are told apart.
func (w *insightsWalk) message(message []byte) error {
	s := &w.scan
	*s, w.spans = jsonScan{data: message}, false
	requests, bytes := w.batch.requests, w.batch.bytes
	for s.peek() == '{' {
		w.item()
	}
	whole := s.ended()
	// The message is not kept alive by a walk that waits for the next one.
	s.data = nil
	if !whole {
		return errNoJSON
	}
	if !w.spans {
		w.ledger.other(metrics, bytes)
		w.batch.requests -= requests
		w.batch.bytes -= bytes
	}
	return nil
}

func (w *insightsWalk) item() {
	s := &w.scan
	var span jsonSpan
	var kind []byte
	for more := s.begin('{'); more; more = s.next('}') {
		switch string(s.key()) {
		case "tags":
			for more := s.begin('{'); more; more = s.next('}') {
				switch string(s.key()) {
				case "ai.operation.id":
					span.trace = s.text()
				case "ai.operation.parentId":
					span.parent = s.text()
				default:
					s.skip()
				}
			}
		case "data":
			for more := s.begin('{'); more; more = s.next('}') {
				switch string(s.key()) {
				case "baseType":
					kind = s.text()
				case "baseData":
					w.span(&span)
				default:
					s.skip()
				}
			}
		default:
			s.skip()
		}
	}
	if s.failed || string(kind) != insightsRequest && string(kind) != insightsDependency {
		return
	}
	w.spans = true
	if string(span.name) != string(w.recordName) {
		w.batch.unexpected.add(span.name)
		return
	}
	w.enter(&span)
}

func (w *insightsWalk) span(span *jsonSpan) {
	s := &w.scan
	for more := s.begin('{'); more; more = s.next('}') {
		switch string(s.key()) {
		case "id":
			span.id = s.text()
		case "name":
			span.name = s.text()
		default:
			s.skip()
		}
	}
}
