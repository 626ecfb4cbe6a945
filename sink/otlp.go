package main

import (
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	traces  = "traces"
	metrics = "metrics"
	logs    = "logs"
)

var otlpSignals = []string{metrics, logs}

const (
	// messageTime is how long a message may take to arrive: a sender that stops in between holds memory no longer.
	messageTime = 60 * time.Second
	headerTime  = 10 * time.Second
	maxHeaders  = 64 << 10
)

// quiet takes what net/http says of single connections: they are counted, and stderr is for the sink's own failures.
var quiet = log.New(io.Discard, "", 0)

// otlpReceiver is what OTLP over HTTP and over gRPC have in common: an HTTP server whose messages carry spans, which
// are counted, or metrics and logs, which are answered.
type otlpReceiver struct {
	ledger   *ledger
	messages *messages
	walks    sync.Pool
	server   *http.Server
}

func newOTLPReceiver(recordName string, l *ledger, m *messages) *otlpReceiver {
	return &otlpReceiver{
		ledger:   l,
		messages: m,
		walks:    sync.Pool{New: func() any { return newSpanWalk(recordName, l) }},
		server:   &http.Server{ReadHeaderTimeout: headerTime, MaxHeaderBytes: maxHeaders, ErrorLog: quiet},
	}
}

func (o *otlpReceiver) serve(l net.Listener) {
	// It returns when the listener is closed, and the errors of single connections are their senders'.
	_ = o.server.Serve(l)
}

func (o *otlpReceiver) stop(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if o.server.Shutdown(ctx) != nil {
		o.server.Close()
	}
}

// take reads one message from body, whose length is announced or -1, and enters it. The error says why it was not
// accepted; the ledger knows already.
func (o *otlpReceiver) take(signal, encoding string, body io.Reader, announced int64) error {
	arrived := &countingReader{Reader: body}
	if signal != traces {
		_, err := io.Copy(io.Discard, io.LimitReader(arrived, o.messages.limit))
		o.ledger.other(signal, arrived.count)
		return err
	}
	plain, err := inflate(arrived, encoding)
	if plain != arrived {
		announced = -1
	}
	var m message
	if err == nil {
		m, err = o.messages.read(plain, announced)
		defer m.release()
	}
	walk := o.walks.Get().(*spanWalk)
	defer o.walks.Put(walk)
	walk.batch.arrivalNs = monotonicNs()
	walk.batch.requests = 1
	walk.batch.bytes = arrived.count
	switch err {
	case nil:
		err = walk.request(m.bytes)
		if err != nil {
			walk.batch.malformed++
		}
	case errBusy:
		o.ledger.refuse()
	default:
		if arrived.broken {
			walk.batch.cutOff++
		} else {
			walk.batch.malformed++
		}
	}
	o.ledger.apply(walk.batch)
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

type countingReader struct {
	io.Reader
	count  int64
	broken bool // the sender left before the end
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.count += int64(n)
	c.broken = c.broken || err != nil && err != io.EOF && !errors.Is(err, errShort)
	return n, err
}
