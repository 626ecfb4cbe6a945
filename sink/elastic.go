package main

import "net/http"

const (
	ndjsonMedia = "application/x-ndjson"
	errorEvents = "errors"

	// elasticServer is what an agent is told of the server: it enables what the version understands.
	elasticServer = `{"build_date":"2024-08-02T00:00:00Z","build_sha":"0","publish_ready":true,"version":"8.15.0"}`
)

// elastic is Elastic APM's intake protocol, version 2: events in JSON, one per line, in requests that stay open while
// the agent has something to say. Transactions and spans are the records.
var elastic = protocol{
	signals:         []string{metrics, logs, errorEvents},
	connectionBytes: httpBuffers + inflateBytes + shortLine,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		intakes := newIntakes(recordName, l, m)
		mux := http.NewServeMux()
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { accept(w, jsonMedia, elasticServer) })
		mux.HandleFunc("/config/v1/agents", func(w http.ResponseWriter, r *http.Request) {
			// Nothing is configured from here, and that does not change.
			w.Header().Set("Cache-Control", "max-age=30, must-revalidate")
			w.Header().Set("Etag", `"none"`)
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			accept(w, jsonMedia, "{}")
		})
		mux.HandleFunc("POST /intake/v2/events", func(w http.ResponseWriter, r *http.Request) {
			if mediaOf(r) != ndjsonMedia {
				l.reject()
				http.Error(w, "only "+ndjsonMedia+" is understood", http.StatusUnsupportedMediaType)
				return
			}
			in := intakes.Get().(*intake)
			defer intakes.Put(in)
			if err := in.read(r.Body, r.Header.Get("Content-Encoding"), func() { limitTime(w) }); err != nil {
				deny(w, err)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		})
		return newHTTPReceiver(l, m, mux)
	},
}
