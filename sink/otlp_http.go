package main

import (
	"errors"
	"mime"
	"net/http"
	"time"
)

const (
	httpBuffers   = 64 << 10
	protobufMedia = "application/x-protobuf"
)

// otlpHTTP is OTLP over HTTP/1.1 with protobuf bodies.
var otlpHTTP = protocol{
	signals:         otlpSignals,
	connectionBytes: httpBuffers,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		o := newOTLPReceiver(recordName, l, m)
		mux := http.NewServeMux()
		for _, signal := range []string{traces, metrics, logs} {
			mux.HandleFunc("POST /v1/"+signal, func(w http.ResponseWriter, r *http.Request) { o.answer(w, r, signal) })
		}
		o.server.Handler = mux
		return o
	},
}

func (o *otlpReceiver) answer(w http.ResponseWriter, r *http.Request, signal string) {
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != protobufMedia {
		if signal == traces {
			o.ledger.reject()
		}
		http.Error(w, "only "+protobufMedia+" is understood", http.StatusUnsupportedMediaType)
		return
	}
	// It cannot fail on a server's connection.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(messageTime))
	err := o.take(signal, r.Header.Get("Content-Encoding"), r.Body, r.ContentLength)
	switch {
	case err == nil:
		// An empty ExportServiceResponse: everything was accepted.
		w.Header().Set("Content-Type", protobufMedia)
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "1")
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	case errors.Is(err, errTooLarge):
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
	default:
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}
