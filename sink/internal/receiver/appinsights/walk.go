package appinsights

import (
	"sync"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/jsonspan"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/wire/jsonscan"
)

const (
	// Types of Application Insights' telemetry that are spans.
	requestData    = "RequestData"
	dependencyData = "RemoteDependencyData"
)

// walk finds the spans among the items of a message.
type walk struct {
	jsonspan.Walk
	spans bool // there was one
}

func newWalks(recordName string, l *ledger.Ledger) *sync.Pool {
	return httpserver.NewWalks(func() *httpserver.Walk {
		w := &walk{Walk: *jsonspan.New(recordName, l)}
		return &httpserver.Walk{Batch: w.Batch, Message: w.message}
	})
}

// message enters the spans of a message. One without any brought other telemetry, and its bytes are told apart.
func (w *walk) message(message []byte) error {
	s := &w.Scan
	*s, w.spans = jsonscan.Scan{Data: message}, false
	requests, bytes := w.Batch.Requests, w.Batch.Bytes
	for s.Peek() == '{' {
		w.item()
	}
	whole := s.Ended()
	// The message is not kept alive by a walk that waits for the next one.
	s.Data = nil
	if !whole {
		return jsonscan.ErrNoJSON
	}
	if !w.spans {
		w.Ledger.Other(ledger.Metrics, bytes)
		w.Batch.Requests -= requests
		w.Batch.Bytes -= bytes
	}
	return nil
}

func (w *walk) item() {
	s := &w.Scan
	var span jsonspan.Span
	var kind []byte
	for more := s.Begin('{'); more; more = s.Next('}') {
		switch string(s.Key()) {
		case "tags":
			for more := s.Begin('{'); more; more = s.Next('}') {
				switch string(s.Key()) {
				case "ai.operation.id":
					span.Trace = s.Text()
				case "ai.operation.parentId":
					span.Parent = s.Text()
				default:
					s.Skip()
				}
			}
		case "data":
			for more := s.Begin('{'); more; more = s.Next('}') {
				switch string(s.Key()) {
				case "baseType":
					kind = s.Text()
				case "baseData":
					w.span(&span)
				default:
					s.Skip()
				}
			}
		default:
			s.Skip()
		}
	}
	if s.Failed || string(kind) != requestData && string(kind) != dependencyData {
		return
	}
	w.spans = true
	if !w.RecordName.Is(span.Name) {
		w.Batch.Unexpected.Add(span.Name)
		return
	}
	w.Enter(&span)
}

func (w *walk) span(span *jsonspan.Span) {
	s := &w.Scan
	for more := s.Begin('{'); more; more = s.Next('}') {
		switch string(s.Key()) {
		case "id":
			span.ID = s.Text()
		case "name":
			span.Name = s.Text()
		default:
			s.Skip()
		}
	}
}
