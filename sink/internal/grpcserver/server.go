// Package grpcserver answers gRPC calls on clear text HTTP/2.
package grpcserver

import (
	"bytes"
	"errors"
	"net"
	"time"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
)

// Server answers gRPC calls on clear text HTTP/2: unary ones, streams of messages with one reply at their end, and
// streams whose messages are answered one by one.
//
// One goroutine per connection reads frames, puts messages together and hands them over. Nothing is passed between
// goroutines, and most of a message's bytes are copied once, from the kernel into the message.
//
// For the same messages grpc-go with a codec of raw bytes takes 1.73 times the CPU (95 % interval 1.58 to 1.89, 16 rounds of
// benchmarks/sink_against_sink.py --library --unread, November 2026). With walk and trees behind it, the sink on grpc-go
// takes 1.47 times what it takes on this (1.36 to 1.59, 20 rounds without --unread;
// two more runs gave 1.57 and 1.37). grpc-go also takes a message into
// memory before anyone can say that there is no room for it.
type Server struct {
	*network.Connections
	methods     map[string]Method // by path
	messages    *message.Memory
	mistaken    func() // is told of a connection that does not speak HTTP/2 but HTTP/1
	messageTime time.Duration
}

var errNoMethod = errors.New("unknown method")

// New is a server of these methods, by path. Connections that speak HTTP/1 are entered into the ledger.
func New(methods map[string]Method, l *ledger.Ledger, m *message.Memory) *Server {
	s := &Server{methods: methods, messages: m, mistaken: l.HTTPAtGRPC, messageTime: message.Time}
	s.Connections = network.NewConnections(goodbye(), func(conn net.Conn) { newConnection(s, conn).run() })
	return s
}

// goodbye asks a client to begin no more calls.
func goodbye() []byte {
	var frame bytes.Buffer
	// A buffer takes all.
	_ = http2.NewFramer(&frame, nil).WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
	return frame.Bytes()
}
