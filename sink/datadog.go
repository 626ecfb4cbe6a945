package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	msgpackMedia = "application/msgpack"

	// Signals that Datadog's agent sends beside its traces.
	datadogStats     = "stats"
	datadogTelemetry = "telemetry"
	datadogConfig    = "configuration"

	// datadogStrings is what a walk may hold to find the strings of a message.
	datadogStrings = 4 * maxTableStrings

	// datadogRates keeps every trace: it stands for all services and environments.
	datadogRates = `{"rate_by_service":{"service:,env:":1}}`
)

// datadogInfo is what a tracer is told of the receiver, which is Datadog's own agent elsewhere: where it takes traces,
// statistics, telemetry and questions for a configuration, and that traces which are sampled out need not be sent to
// be counted.
const datadogInfo = `{"version":"7.70.0","endpoints":["/v0.3/traces","/v0.4/traces","/v0.5/traces","/v0.6/stats",` +
	`"/v0.7/config","/telemetry/proxy/"],"client_drop_p0s":true,"span_meta_structs":true,"long_running_spans":true}`

// datadogState names that answer. A tracer asks again when an answer comes with another name.
var datadogState = fmt.Sprintf("%x", sha256.Sum256([]byte(datadogInfo)))

// datadog is the protocol of Datadog's tracers: lists of traces in MessagePack over HTTP. What a tracer dropped since its
// last message stands in a header. Its metrics come as datagrams, on the same port number.
var datadog = protocol{
	signals:         []string{metrics, datadogStats, datadogTelemetry, datadogConfig},
	connectionBytes: httpBuffers + datadogStrings,
	structure:       func() structure { return &outerFirst{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		mux := http.NewServeMux()
		d := &datadogReceiver{httpReceiver: newHTTPReceiver(l, m, mux), read: make(chan struct{})}
		mapped := newDatadogWalks(recordName, l, (*datadogWalk).mapped)
		listed := newDatadogWalks(recordName, l, (*datadogWalk).listed)
		for path, walks := range map[string]*sync.Pool{"/v0.3/traces": mapped, "/v0.4/traces": mapped, "/v0.5/traces": listed} {
			take := func(w http.ResponseWriter, r *http.Request) { d.datadogTraces(w, r, walks) }
			mux.HandleFunc("PUT "+path, take)
			mux.HandleFunc("POST "+path, take)
		}
		mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Datadog-Agent-State", datadogState)
			accept(w, jsonMedia, datadogInfo)
		})
		for path, signal := range map[string]string{
			"/v0.6/stats": datadogStats, "/v0.7/config": datadogConfig, "/telemetry/proxy/": datadogTelemetry,
		} {
			mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
				limitTime(w)
				if err := d.pass(signal, r.Body); err != nil {
					deny(w, err)
					return
				}
				accept(w, jsonMedia, "{}")
			})
		}
		return d
	},
}

// datadogReceiver is for a tracer's requests and for its metrics.
type datadogReceiver struct {
	*httpReceiver
	socket *datagrams
	read   chan struct{}
}

func (d *datadogReceiver) takeFrom(socket *datagrams) {
	d.socket = socket
}

func (d *datadogReceiver) serve(l net.Listener) {
	go d.readMetrics()
	d.httpReceiver.serve(l)
}

// readMetrics counts their bytes until the socket is closed.
func (d *datadogReceiver) readMetrics() {
	defer close(d.read)
	buffer := make([]byte, maxDatagram)
	for {
		n, err := d.socket.Read(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptPause)
			continue
		}
		d.ledger.other(metrics, int64(n))
	}
}

func (d *datadogReceiver) stop(grace time.Duration) {
	d.httpReceiver.stop(grace)
	d.socket.close()
	<-d.read
}

// datadogTraces takes a message with traces. Version 0.3 knows no answer but that it arrived.
func (h *httpReceiver) datadogTraces(w http.ResponseWriter, r *http.Request, walks *sync.Pool) {
	w.Header().Set("Datadog-Agent-State", datadogState)
	if mediaOf(r) != msgpackMedia {
		h.ledger.reject()
		http.Error(w, "only "+msgpackMedia+" is understood", http.StatusUnsupportedMediaType)
		return
	}
	limitTime(w)
	if err := h.take(walks, r); err != nil {
		deny(w, err)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v0.3/") {
		accept(w, "text/plain", "OK\n")
		return
	}
	accept(w, jsonMedia, datadogRates)
}
