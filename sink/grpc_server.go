package main

import (
	"bytes"
	"errors"
	"net"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// grpcServer answers gRPC calls on clear text HTTP/2: unary ones, streams of messages with one reply at their end, and
// streams whose messages are answered one by one.
// One goroutine per connection reads frames, puts messages together and hands them over: nothing is passed between
// goroutines, and most of a message's bytes are copied once, from the kernel into the message. A gRPC library spends
// several times as much, and takes a message into memory before anyone can say that there is no room for it.
type grpcServer struct {
	*connections
	methods     map[string]grpcMethod // by path
	messages    *messages
	mistaken    func() // is told of a connection that does not speak HTTP/2 but HTTP/1
	messageTime time.Duration
}

// grpcMethod begins a call of one method.
type grpcMethod func() grpcCall

// grpcCall takes the messages of a call as they come. An error from it ends the call with that error's status.
type grpcCall interface {
	// message takes a whole message, whose bytes are valid until it returns; wire is its size as it came.
	message(data []byte, wire int64) error
	// end is told when the sender has ended the call in order, and gives the reply.
	end() ([]byte, error)
	// broken is told instead when the call ends otherwise, with the bytes that came of an unfinished message. Reasons:
	// errShort, errTooLarge, errBusy, errCutOff, or that a message could not be inflated.
	broken(reason error, wire int64)
}

// answeringCall is a grpcCall in which messages go both ways. What its end gives is not sent.
type answeringCall interface {
	grpcCall
	// answer is asked after each message, and gives what is sent back at once, if anything is.
	answer() (reply []byte, ok bool)
}

var (
	// errShort says that a call ended in order before the message that it announced: it is malformed, not cut off.
	errShort = errors.New("the message is shorter than announced")
	// errCutOff says that the sender left, or took too long, before its call had ended.
	errCutOff = errors.New("the call was cut off")

	errNoMethod = errors.New("unknown method")
)

// Status codes of gRPC.
const (
	grpcOK                = 0
	grpcInvalidArgument   = 3
	grpcResourceExhausted = 8
	grpcUnimplemented     = 12
)

func grpcStatus(err error) int {
	switch {
	case err == nil:
		return grpcOK
	case errors.Is(err, errBusy), errors.Is(err, errTooLarge):
		return grpcResourceExhausted
	case errors.Is(err, errNoMethod):
		return grpcUnimplemented
	default:
		return grpcInvalidArgument
	}
}

func newGRPCServer(methods map[string]grpcMethod, l *ledger, m *messages) *grpcServer {
	s := &grpcServer{methods: methods, messages: m, mistaken: l.httpAtGRPC, messageTime: messageTime}
	s.connections = newConnections(grpcGoodbye(), func(conn net.Conn) { newGRPCConn(s, conn).run() })
	return s
}

// grpcGoodbye asks a client to begin no more calls.
func grpcGoodbye() []byte {
	var frame bytes.Buffer
	// A buffer takes all.
	_ = http2.NewFramer(&frame, nil).WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
	return frame.Bytes()
}

// Header blocks that are the same for all calls and connections: nothing in them enters a table.
var (
	grpcHeaders   = headerBlock(":status", "200", "content-type", "application/grpc", "grpc-accept-encoding", "identity, gzip")
	grpcSucceeded = headerBlock("grpc-status", "0")
	grpcNotSpoken = headerBlock(":status", "415")
)

// grpcFailed is the whole reply to a call that failed.
func grpcFailed(err error) []byte {
	return headerBlock(append([]string{":status", "200", "content-type", "application/grpc"}, grpcStatusFields(err)...)...)
}

// grpcFailedLate is the end of a reply that has begun.
func grpcFailedLate(err error) []byte {
	return headerBlock(grpcStatusFields(err)...)
}

func grpcStatusFields(err error) []string {
	return []string{"grpc-status", strconv.Itoa(grpcStatus(err)), "grpc-message", url.PathEscape(err.Error())}
}

func headerBlock(namesAndValues ...string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0)
	for i := 0; i < len(namesAndValues); i += 2 {
		// A buffer takes all.
		_ = encoder.WriteField(hpack.HeaderField{Name: namesAndValues[i], Value: namesAndValues[i+1]})
	}
	return block.Bytes()
}
