// Package datadog is the protocol of Datadog's tracers.
package datadog

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

const (
	msgpackMedia = "application/msgpack"

	// Signals that Datadog's agent sends beside its traces.
	stats         = "stats"
	telemetry     = "telemetry"
	configuration = "configuration"

	// stringsBytes is what a walk may hold to find the strings of a message.
	stringsBytes = 4 * maxTableStrings

	// rates keeps every trace: it stands for all services and environments.
	rates = `{"rate_by_service":{"service:,env:":1}}`
)

// info is what a tracer is told of the receiver, which is Datadog's own agent elsewhere: where it takes traces,
// statistics, telemetry and questions for a configuration, and that traces which are sampled out need not be sent to
// be counted.
const info = `{"version":"7.70.0","endpoints":["/v0.3/traces","/v0.4/traces","/v0.5/traces","/v0.6/stats",` +
	`"/v0.7/config","/telemetry/proxy/"],"client_drop_p0s":true,"span_meta_structs":true,"long_running_spans":true}`

// infoHash names that answer. A tracer asks again when an answer comes with another name.
var infoHash = fmt.Sprintf("%x", sha256.Sum256([]byte(info)))

// Protocol is the protocol of Datadog's tracers: lists of traces in MessagePack over HTTP. What a tracer dropped since its
// last message stands in a header. Its metrics come as datagrams, on the same port number.
var Protocol = protocol.Protocol{
	Signals:         []string{ledger.Metrics, stats, telemetry, configuration},
	ConnectionBytes: httpserver.ConnectionBytes + stringsBytes,
	AnyName:         true,
	Structure:       func() tree.Structure { return &tree.OuterFirst{} },
	Receiver: func(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
		mux := http.NewServeMux()
		d := &receiver{Receiver: httpserver.New(l, m, mux), read: make(chan struct{})}
		mapped := newWalks(recordName, l, (*walk).mapped)
		listed := newWalks(recordName, l, (*walk).listed)
		for path, walks := range map[string]*sync.Pool{"/v0.3/traces": mapped, "/v0.4/traces": mapped, "/v0.5/traces": listed} {
			take := func(w http.ResponseWriter, r *http.Request) { takeTraces(d.Receiver, w, r, walks) }
			mux.HandleFunc("PUT "+path, take)
			mux.HandleFunc("POST "+path, take)
		}
		mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Datadog-Agent-State", infoHash)
			httpserver.Accept(w, httpserver.JSON, info)
		})
		for path, signal := range map[string]string{
			"/v0.6/stats": stats, "/v0.7/config": configuration, "/telemetry/proxy/": telemetry,
		} {
			mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
				httpserver.LimitTime(w)
				if err := d.Pass(signal, r.Body); err != nil {
					httpserver.Deny(w, err)
					return
				}
				httpserver.Accept(w, httpserver.JSON, "{}")
			})
		}
		return d
	},
}

// receiver is for a tracer's requests and for its metrics.
type receiver struct {
	*httpserver.Receiver
	socket *network.Datagrams
	read   chan struct{}
}

func (d *receiver) TakeFrom(socket *network.Datagrams) {
	d.socket = socket
}

func (d *receiver) Serve(l net.Listener) {
	go d.readMetrics()
	d.Receiver.Serve(l)
}

// readMetrics counts their bytes until the socket is closed.
func (d *receiver) readMetrics() {
	defer close(d.read)
	buffer := make([]byte, network.MaxDatagram)
	for {
		n, err := d.socket.Read(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(network.AcceptPause)
			continue
		}
		d.Other(ledger.Metrics, int64(n))
	}
}

func (d *receiver) Stop(grace time.Duration) {
	d.Receiver.Stop(grace)
	d.socket.Close()
	<-d.read
}

// takeTraces takes a message with traces. Version 0.3 knows no answer but that it arrived.
func takeTraces(h *httpserver.Receiver, w http.ResponseWriter, r *http.Request, walks *sync.Pool) {
	w.Header().Set("Datadog-Agent-State", infoHash)
	if httpserver.Media(r) != msgpackMedia {
		h.Reject()
		http.Error(w, "only "+msgpackMedia+" is understood", http.StatusUnsupportedMediaType)
		return
	}
	httpserver.LimitTime(w)
	if err := h.Take(walks, r); err != nil {
		httpserver.Deny(w, err)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v0.3/") {
		httpserver.Accept(w, "text/plain", "OK\n")
		return
	}
	httpserver.Accept(w, httpserver.JSON, rates)
}
