package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// Windows of a connection: what HTTP/2 may hold before a message is read into the shared memory.
	grpcConnectionWindow = 2 << 20
	grpcStreamWindow     = 1 << 20
	grpcStreams          = 16
	grpcMaxFrame         = 64 << 10

	// A message begins with a flag and its length.
	grpcHead = 5
)

// Status codes of gRPC.
const (
	grpcOK                = 0
	grpcInvalidArgument   = 3
	grpcResourceExhausted = 8
	grpcUnimplemented     = 12
)

var grpcMethods = map[string]string{
	"/opentelemetry.proto.collector.trace.v1.TraceService/Export":     traces,
	"/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": metrics,
	"/opentelemetry.proto.collector.logs.v1.LogsService/Export":       logs,
}

// otlpGRPC is OTLP over gRPC: unary calls on clear text HTTP/2. The few bytes that gRPC adds to HTTP/2 are read and
// written here, for a gRPC library takes a message into memory before anyone can say that there is no room for it.
var otlpGRPC = protocol{
	signals:         otlpSignals,
	connectionBytes: grpcConnectionWindow + grpcMaxFrame,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		o := newOTLPReceiver(recordName, l, m)
		o.server.Protocols = new(http.Protocols)
		o.server.Protocols.SetUnencryptedHTTP2(true)
		o.server.HTTP2 = &http.HTTP2Config{
			MaxConcurrentStreams:          grpcStreams,
			MaxReadFrameSize:              grpcMaxFrame,
			MaxReceiveBufferPerConnection: grpcConnectionWindow,
			MaxReceiveBufferPerStream:     grpcStreamWindow,
		}
		o.server.Handler = http.HandlerFunc(o.call)
		return o
	},
}

// call answers one gRPC call.
func (o *otlpReceiver) call(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		http.Error(w, "only gRPC is understood", http.StatusUnsupportedMediaType)
		return
	}
	signal, known := grpcMethods[r.URL.Path]
	if !known {
		finish(w, grpcUnimplemented, "unknown method")
		return
	}
	// It cannot fail on a server's stream.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(messageTime))
	err := o.unary(signal, r.Header.Get("Grpc-Encoding"), r.Body)
	switch {
	case err == nil:
		finish(w, grpcOK, "")
	case errors.Is(err, errBusy), errors.Is(err, errTooLarge):
		finish(w, grpcResourceExhausted, err.Error())
	default:
		finish(w, grpcInvalidArgument, err.Error())
	}
}

// unary takes the one message of a call.
func (o *otlpReceiver) unary(signal, encoding string, body io.Reader) error {
	var head [grpcHead]byte
	if _, err := io.ReadFull(body, head[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errShort
		}
		return o.take(signal, "", failing{fmt.Errorf("no message: %w", err)}, -1)
	}
	if compressed := head[0]&1 == 1; !compressed {
		encoding = ""
	}
	length := int64(binary.BigEndian.Uint32(head[1:]))
	return o.take(signal, encoding, &exactReader{from: body, left: length}, length)
}

// finish writes the reply: an empty message if the call succeeded, and the status.
func finish(w http.ResponseWriter, code int, text string) {
	header := w.Header()
	header.Set("Content-Type", "application/grpc")
	header.Set("Grpc-Accept-Encoding", "identity, gzip")
	if code == grpcOK {
		// A failure to write is the client's leaving.
		_, _ = w.Write(make([]byte, grpcHead))
	}
	header.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(code))
	if text != "" {
		header.Set(http.TrailerPrefix+"Grpc-Message", url.PathEscape(text))
	}
}

// errShort says that a call ended in order before the message that it announced: it is malformed, not cut off.
var errShort = errors.New("the message is shorter than announced")

// exactReader ends after a known number of bytes, and with an error if there are fewer.
type exactReader struct {
	from io.Reader
	left int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.from.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF {
		err = nil
		if e.left > 0 {
			err = errShort
		}
	}
	return n, err
}

// failing is a body that could not be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
