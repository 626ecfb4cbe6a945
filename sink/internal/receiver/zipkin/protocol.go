// Package zipkin is Zipkin's protocol, version 2.
package zipkin

import (
	"net/http"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// Protocol is Zipkin's protocol, version 2: arrays of spans in JSON. Its spans have their names in lower case, so upper
// and lower case letters of ASCII are not told apart. They have a beginning and a duration in whole microseconds, so
// none ends before it starts.
var Protocol = protocol.Protocol{
	ConnectionBytes: httpserver.ConnectionBytes,
	AnyName:         true,
	Structure:       func() tree.Structure { return &tree.SpanChain{} },
	Receiver: func(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
		mux := http.NewServeMux()
		z := httpserver.New(l, m, mux)
		walks := newWalks(recordName, l)
		mux.HandleFunc("POST /api/v2/spans", func(w http.ResponseWriter, r *http.Request) {
			if httpserver.Media(r) != httpserver.JSON {
				l.Reject()
				http.Error(w, "only "+httpserver.JSON+" is understood", http.StatusUnsupportedMediaType)
				return
			}
			httpserver.LimitTime(w)
			if err := z.Take(walks, r); err != nil {
				httpserver.Deny(w, err)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		})
		mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
			httpserver.Accept(w, httpserver.JSON, `{"status":"UP"}`)
		})
		return z
	},
}
