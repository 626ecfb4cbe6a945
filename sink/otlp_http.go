package main

import (
	"io"
	"net/http"
	"sync"
)

const protobufMedia = "application/x-protobuf"

// otlpHTTP is OTLP over HTTP/1.1 with bodies in protobuf or JSON. Messages carry spans, which are counted, or metrics
// and logs, which are answered.
var otlpHTTP = protocol{
	signals:         otlpSignals,
	connectionBytes: httpBuffers,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		mux := http.NewServeMux()
		h := newHTTPReceiver(l, m, mux)
		formats := map[string]otlpFormat{
			protobufMedia: {walks: newProtobufWalks(recordName, l)},
			jsonMedia:     {walks: newOTLPJSONWalks(recordName, l), reply: "{}"},
		}
		for _, signal := range []string{traces, metrics, logs} {
			mux.HandleFunc("POST /v1/"+signal, func(w http.ResponseWriter, r *http.Request) { h.otlp(w, r, signal, formats) })
		}
		return h
	},
}

// otlpFormat is one way to write messages down.
type otlpFormat struct {
	walks *sync.Pool
	// reply is an empty ExportServiceResponse: everything was accepted.
	reply string
}

func newProtobufWalks(recordName string, l *ledger) *sync.Pool {
	return newWalks(func() *walk {
		w := newSpanWalk(recordName, l)
		return &walk{batch: w.batch, message: w.request}
	})
}

func (h *httpReceiver) otlp(w http.ResponseWriter, r *http.Request, signal string, formats map[string]otlpFormat) {
	media := mediaOf(r)
	format, known := formats[media]
	if !known {
		if signal == traces {
			h.ledger.reject()
		}
		http.Error(w, "only "+protobufMedia+" and "+jsonMedia+" are understood", http.StatusUnsupportedMediaType)
		return
	}
	limitTime(w)
	var err error
	if signal == traces {
		err = h.take(format.walks, r)
	} else {
		err = h.pass(signal, r.Body)
	}
	if err != nil {
		deny(w, err)
		return
	}
	accept(w, media, format.reply)
}

// pass counts the bytes of a message that carries no records.
func (h *httpReceiver) pass(signal string, body io.Reader) error {
	size, err := io.Copy(io.Discard, io.LimitReader(body, h.messages.limit))
	h.ledger.other(signal, size)
	return err
}
