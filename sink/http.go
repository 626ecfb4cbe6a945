package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

const (
	// messageTime is how long a message may take to arrive: a sender that stops in between holds memory no longer.
	messageTime = 60 * time.Second
	headerTime  = 10 * time.Second
	maxHeaders  = 16 << 10
	// refusalTime is how long a client that came to the wrong port may take to read that.
	refusalTime = time.Second
	// refusedBytes is how much is read of what it still sends.
	refusedBytes = 64 << 10

	// httpBuffers is what a connection holds besides its message: headers of many short fields take up to 16 times as
	// much in memory as on the wire.
	httpBuffers = 64<<10 + 16*maxHeaders
	jsonMedia   = "application/json"
)

// quiet takes what net/http says of single connections: they are counted, and stderr is for the sink's own failures.
var quiet = log.New(io.Discard, "", 0)

// httpReceiver is what the protocols over HTTP have in common: a server, and messages that are read whole, walked, and
// entered into the ledger.
type httpReceiver struct {
	ledger   *ledger
	messages *messages
	server   *http.Server
	handling sync.RWMutex // is held for reading while a request is handled
}

// newHTTPReceiver makes one whose requests are answered by mux.
func newHTTPReceiver(l *ledger, m *messages, mux *http.ServeMux) *httpReceiver {
	h := &httpReceiver{ledger: l, messages: m}
	h.server = &http.Server{
		ReadHeaderTimeout: headerTime,
		MaxHeaderBytes:    maxHeaders,
		ErrorLog:          quiet,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.handling.RLock()
			defer h.handling.RUnlock()
			if r.ProtoMajor == 2 {
				l.grpcAtHTTP()
				refuseGRPC(w)
				return
			}
			mux.ServeHTTP(w, r)
		}),
	}
	return h
}

func (h *httpReceiver) serve(l net.Listener) {
	// It returns when the listener is closed, and the errors of single connections are their senders'.
	_ = h.server.Serve(l)
}

func (h *httpReceiver) stop(grace time.Duration) {
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
	_ = conn.SetDeadline(time.Now().Add(headerTime))
	if _, err := conn.Write(answer.Bytes()); err == nil {
		leaveInOrder(conn)
	}
}

// leaveInOrder reads what a client still sends, for a while: closed with bytes unread, the connection would be reset, and
// the client might lose its answer.
func leaveInOrder(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(refusalTime))
	_, _ = io.CopyN(io.Discard, conn, refusedBytes)
}

// walk finds the records in messages of one format. Those before the fault in a garbled message are in the batch, or
// in the ledger already.
type walk struct {
	batch   *batch
	message func([]byte) error
	// headers is told of those of the message before it, where they say something about records.
	headers func(http.Header)
}

// walks are kept for further messages.
func newWalks(create func() *walk) *sync.Pool {
	return &sync.Pool{New: func() any { return create() }}
}

// take reads the message of a request and enters it. The error says why it was not accepted; the ledger knows already.
func (h *httpReceiver) take(walks *sync.Pool, r *http.Request) error {
	arrived, announced := &countingReader{Reader: r.Body}, r.ContentLength
	plain, err := inflate(arrived, r.Header.Get("Content-Encoding"))
	if plain != arrived {
		announced = -1
	}
	var m message
	if err == nil {
		m, err = h.messages.read(plain, announced)
		defer m.release()
	}
	w := walks.Get().(*walk)
	defer walks.Put(w)
	w.batch.arrivalNs = monotonicNs()
	w.batch.requests = 1
	w.batch.bytes = arrived.count
	if w.headers != nil {
		w.headers(r.Header)
	}
	switch err {
	case nil:
		err = w.message(m.bytes)
		if err != nil {
			w.batch.malformed++
		}
	case errBusy:
		h.ledger.refuse()
	default:
		if arrived.broken {
			w.batch.cutOff++
			w.batch.drops = 0 // its sender may send it again
		} else {
			w.batch.malformed++
		}
	}
	h.ledger.apply(w.batch)
	return err
}

// inflate undoes the encoding of a body.
func inflate(body io.Reader, encoding string) (io.Reader, error) {
	switch encoding {
	case "", "identity":
		return body, nil
	case "gzip":
		return gzip.NewReader(body)
	case "deflate":
		return zlib.NewReader(body)
	default:
		return nil, fmt.Errorf("unknown encoding %q", encoding)
	}
}

// countingReader counts what arrives of a body.
type countingReader struct {
	io.Reader
	count  int64
	broken bool // the sender left before the end
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.count += int64(n)
	c.broken = c.broken || err != nil && err != io.EOF
	return n, err
}

// mediaOf is the type of a request's body, without parameters.
func mediaOf(r *http.Request) string {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return media
}

// limitTime gives the body of a request the time that a message may take.
func limitTime(w http.ResponseWriter) {
	// It cannot fail on a server's connection.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(messageTime))
}

// accept answers a message with status 200.
func accept(w http.ResponseWriter, media, reply string) {
	w.Header().Set("Content-Type", media)
	// It cannot fail before the sender has left.
	_, _ = io.WriteString(w, reply)
}

// deny answers a message that was not accepted.
func deny(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	switch {
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "1")
		status = http.StatusTooManyRequests
	case errors.Is(err, errTooLarge):
		status = http.StatusRequestEntityTooLarge
	}
	http.Error(w, err.Error(), status)
}
