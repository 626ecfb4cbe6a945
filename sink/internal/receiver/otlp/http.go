package otlp

import (
	"net/http"
	"sync"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
)

const protobufMedia = "application/x-protobuf"

// newHTTP answers the requests of three signals.
func newHTTP(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
	mux := http.NewServeMux()
	h := httpserver.New(l, m, mux)
	formats := map[string]format{
		protobufMedia:   {walks: newProtobufWalks(recordName, l)},
		httpserver.JSON: {walks: newJSONWalks(recordName, l), reply: "{}"},
	}
	for _, signal := range []string{traces, ledger.Metrics, ledger.Logs} {
		mux.HandleFunc("POST /v1/"+signal, func(w http.ResponseWriter, r *http.Request) { take(h, w, r, signal, formats) })
	}
	return h
}

// format is one way to write messages down.
type format struct {
	walks *sync.Pool
	// reply is an empty ExportServiceResponse: everything was accepted.
	reply string
}

func newProtobufWalks(recordName string, l *ledger.Ledger) *sync.Pool {
	return httpserver.NewWalks(func() *httpserver.Walk {
		w := newWalk(recordName, l)
		return &httpserver.Walk{Batch: w.batch, Message: w.request}
	})
}

// take takes a message of one signal.
func take(h *httpserver.Receiver, w http.ResponseWriter, r *http.Request, signal string, formats map[string]format) {
	media := httpserver.Media(r)
	format, known := formats[media]
	if !known {
		if signal == traces {
			h.Reject()
		}
		http.Error(w, "only "+protobufMedia+" and "+httpserver.JSON+" are understood", http.StatusUnsupportedMediaType)
		return
	}
	httpserver.LimitTime(w)
	var err error
	if signal == traces {
		err = h.Take(format.walks, r)
	} else {
		err = h.Pass(signal, r.Body)
	}
	if err != nil {
		httpserver.Deny(w, err)
		return
	}
	httpserver.Accept(w, media, format.reply)
}
