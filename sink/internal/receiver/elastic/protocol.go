// Package elastic is Elastic APM's intake protocol, version 2.
package elastic

import (
	"net/http"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

const (
	ndjsonMedia = "application/x-ndjson"
	errorEvents = "errors"

	// server is what an agent is told of the server: it enables what the version understands.
	server = `{"build_date":"2024-08-02T00:00:00Z","build_sha":"0","publish_ready":true,"version":"8.15.0"}`
)

// Protocol is Elastic APM's intake protocol, version 2: events in JSON, one per line, in requests that stay open while
// the agent has something to say. Transactions and spans are the records.
var Protocol = protocol.Protocol{
	Signals:         []string{ledger.Metrics, ledger.Logs, errorEvents},
	ConnectionBytes: httpserver.ConnectionBytes + inflateBytes + shortLine,
	AnyName:         true,
	Structure:       func() tree.Structure { return &tree.SpanChain{} },
	Receiver: func(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
		intakes := newIntakes(recordName, l, m)
		mux := http.NewServeMux()
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { httpserver.Accept(w, httpserver.JSON, server) })
		mux.HandleFunc("/config/v1/agents", func(w http.ResponseWriter, r *http.Request) {
			// Nothing is configured from here, and that does not change.
			w.Header().Set("Cache-Control", "max-age=30, must-revalidate")
			w.Header().Set("Etag", `"none"`)
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			httpserver.Accept(w, httpserver.JSON, "{}")
		})
		mux.HandleFunc("POST /intake/v2/events", func(w http.ResponseWriter, r *http.Request) {
			if httpserver.Media(r) != ndjsonMedia {
				l.Reject()
				http.Error(w, "only "+ndjsonMedia+" is understood", http.StatusUnsupportedMediaType)
				return
			}
			in := intakes.Get().(*intake)
			defer intakes.Put(in)
			if err := in.read(r.Body, r.Header.Get("Content-Encoding"), func() { httpserver.LimitTime(w) }); err != nil {
				httpserver.Deny(w, err)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		})
		return httpserver.New(l, m, mux)
	},
}
