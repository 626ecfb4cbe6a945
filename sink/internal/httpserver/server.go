// Package httpserver is what the protocols over HTTP have in common.
package httpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
)

const (
	MaxHeaders = 16 << 10
	// ConnectionBytes is what a connection holds besides its message: headers of many short fields take up to 16 times as
	// much in memory as on the wire.
	ConnectionBytes = 64<<10 + 16*MaxHeaders
	JSON            = "application/json"
)

// quiet takes what net/http says of single connections: they are counted, and stderr is for the sink's own failures.
var quiet = log.New(io.Discard, "", 0)

// Receiver is what the protocols over HTTP have in common: a server, and messages that are read whole, walked, and
// entered into the ledger.
type Receiver struct {
	ledger   *ledger.Ledger
	messages *message.Memory
	server   *http.Server
	handling sync.RWMutex // is held for reading while a request is handled
}

// New makes one whose requests are answered by mux.
func New(l *ledger.Ledger, m *message.Memory, mux *http.ServeMux) *Receiver {
	h := &Receiver{ledger: l, messages: m}
	h.server = &http.Server{
		ReadHeaderTimeout: network.HeaderTime,
		MaxHeaderBytes:    MaxHeaders,
		ErrorLog:          quiet,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.handling.RLock()
			defer h.handling.RUnlock()
			if r.ProtoMajor == 2 {
				l.GRPCAtHTTP()
				refuseGRPC(w)
				return
			}
			mux.ServeHTTP(w, r)
		}),
	}
	return h
}

// Serve answers requests until the listener is closed.
func (h *Receiver) Serve(l net.Listener) {
	// It returns when the listener is closed, and the errors of single connections are their senders'.
	_ = h.server.Serve(l)
}

// Stop ends the connections after the grace. What has arrived of their requests is entered then.
func (h *Receiver) Stop(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if h.server.Shutdown(ctx) == nil {
		return
	}
	h.server.Close()
	// That does not wait for requests whose connections it has closed: what has arrived of them is still to be entered.
	h.handling.Lock()
	defer h.handling.Unlock()
}

// refuseGRPC tells a client that greets in HTTP/2, as gRPC does, in HTTP/2 that it is at the wrong port.
func refuseGRPC(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	var answer bytes.Buffer
	framer := http2.NewFramer(&answer, nil)
	// A buffer takes all.
	_ = framer.WriteSettings()
	_ = framer.WriteGoAway(0, http2.ErrCodeHTTP11Required, []byte("gRPC came to the HTTP port: use otlp-grpc"))
	_ = conn.SetDeadline(time.Now().Add(network.HeaderTime))
	if _, err := conn.Write(answer.Bytes()); err == nil {
		network.LeaveInOrder(conn)
	}
}

// Reject enters a request that was turned away for what it said of itself.
func (h *Receiver) Reject() {
	h.ledger.Reject()
}

// Other enters bytes that came beside the requests.
func (h *Receiver) Other(signal string, bytes int64) {
	h.ledger.Other(signal, bytes)
}

// Media is the type of a request's body, without parameters.
func Media(r *http.Request) string {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return media
}

// LimitTime gives the body of a request the time that a message may take.
func LimitTime(w http.ResponseWriter) {
	// It cannot fail on a server's connection.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(message.Time))
}

// Accept answers a message with status 200.
func Accept(w http.ResponseWriter, media, reply string) {
	w.Header().Set("Content-Type", media)
	// It cannot fail before the sender has left.
	_, _ = io.WriteString(w, reply)
}

// Deny answers a message that was not accepted.
func Deny(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	switch {
	case errors.Is(err, message.ErrBusy):
		w.Header().Set("Retry-After", "1")
		status = http.StatusTooManyRequests
	case errors.Is(err, message.ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	}
	http.Error(w, err.Error(), status)
}
