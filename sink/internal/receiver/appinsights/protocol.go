// Package appinsights is the ingestion protocol of Azure Monitor's Application Insights.
package appinsights

import (
	"net/http"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

const (
	liveMetrics = "live metrics"
	// accepted says that nothing was turned away.
	accepted = `{"errors":[]}`
)

// Protocol is the ingestion protocol of Azure Monitor's Application Insights: telemetry in JSON, one item per line. An
// item that is a request is the root of what belongs together, dependencies are the rest.
var Protocol = protocol.Protocol{
	Signals:         []string{ledger.Metrics, liveMetrics},
	ConnectionBytes: httpserver.ConnectionBytes,
	AnyName:         true,
	Structure:       func() tree.Structure { return &tree.SpanChain{} },
	Receiver: func(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
		mux := http.NewServeMux()
		h := httpserver.New(l, m, mux)
		walks := newWalks(recordName, l)
		mux.HandleFunc("POST /v2.1/track", func(w http.ResponseWriter, r *http.Request) {
			httpserver.LimitTime(w)
			if err := h.Take(walks, r); err != nil {
				httpserver.Deny(w, err)
				return
			}
			httpserver.Accept(w, httpserver.JSON, accepted)
		})
		mux.HandleFunc("GET /api/profiles/{key}/appId", func(w http.ResponseWriter, r *http.Request) {
			httpserver.Accept(w, "text/plain", r.PathValue("key"))
		})
		mux.HandleFunc("POST /QuickPulseService.svc/{action}", func(w http.ResponseWriter, r *http.Request) {
			httpserver.LimitTime(w)
			// Nobody watches.
			w.Header().Set("x-ms-qps-subscribed", "false")
			if err := h.Pass(liveMetrics, r.Body); err != nil {
				httpserver.Deny(w, err)
			}
		})
		return h
	},
}
