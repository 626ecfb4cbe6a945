package grpcserver

import (
	"bytes"
	"errors"
	"net/url"
	"strconv"

	"golang.org/x/net/http2/hpack"

	"tracetax/sink/internal/message"
)

// Status codes of gRPC.
const (
	statusOK                = 0
	statusInvalidArgument   = 3
	statusResourceExhausted = 8
	statusUnimplemented     = 12
)

func statusOf(err error) int {
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, message.ErrBusy), errors.Is(err, message.ErrTooLarge):
		return statusResourceExhausted
	case errors.Is(err, errNoMethod):
		return statusUnimplemented
	default:
		return statusInvalidArgument
	}
}

// Header blocks that are the same for all calls and connections: nothing in them enters a table.
var (
	replyHeaders = headerBlock(":status", "200", "content-type", "application/grpc", "grpc-accept-encoding", "identity, gzip")
	succeeded    = headerBlock("grpc-status", "0")
	notSpoken    = headerBlock(":status", "415")
)

// failed is the whole reply to a call that failed.
func failed(err error) []byte {
	return headerBlock(append([]string{":status", "200", "content-type", "application/grpc"}, statusFields(err)...)...)
}

// failedLate is the end of a reply that has begun.
func failedLate(err error) []byte {
	return headerBlock(statusFields(err)...)
}

func statusFields(err error) []string {
	return []string{"grpc-status", strconv.Itoa(statusOf(err)), "grpc-message", url.PathEscape(err.Error())}
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
