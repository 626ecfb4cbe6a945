package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// grpcPeer is a client that sends what it wants.
type grpcPeer struct {
	t      *testing.T
	conn   net.Conn
	framer *http2.Framer
	block  bytes.Buffer
	hpack  *hpack.Encoder
	path   string // of the method that is called
}

// frames writes frames into a buffer, without a connection.
func newGRPCPeer(t *testing.T, conn net.Conn, to io.Writer) *grpcPeer {
	p := &grpcPeer{t: t, conn: conn, framer: http2.NewFramer(to, conn), path: exportTraces}
	p.hpack = hpack.NewEncoder(&p.block)
	p.framer.AllowIllegalWrites = true
	p.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return p
}

// connectGRPC greets the sink as a client does, with the settings given.
func connectGRPC(t *testing.T, r *running, settings ...http2.Setting) *grpcPeer {
	t.Helper()
	conn := r.dial("otlp-grpc")
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	p := newGRPCPeer(t, conn, conn)
	io.WriteString(conn, http2.ClientPreface)
	p.framer.WriteSettings(settings...)
	return p
}

func (p *grpcPeer) headers(stream uint32, ended bool, more ...string) {
	p.block.Reset()
	fields := append([]string{":method", "POST", ":scheme", "http", ":path", p.path, "content-type", "application/grpc"}, more...)
	for i := 0; i < len(fields); i += 2 {
		p.hpack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	block := p.block.Bytes()
	first := block[:min(len(block), grpcFrame)]
	p.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: first, EndStream: ended, EndHeaders: len(first) == len(block),
	})
	for block = block[len(first):]; len(block) > 0; {
		next := block[:min(len(block), grpcFrame)]
		block = block[len(next):]
		p.framer.WriteContinuation(stream, len(block) == 0, next)
	}
}

func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// call sends a whole call in frames of the given size.
func (p *grpcPeer) call(stream uint32, message []byte, size int) {
	p.headers(stream, false)
	for data := framed(message); len(data) > 0; {
		part := data[:min(size, len(data))]
		data = data[len(part):]
		p.framer.WriteData(stream, len(data) == 0, part)
	}
}

// status reads until the call ends, and returns its status, or how it ended otherwise.
func (p *grpcPeer) status(stream uint32) string {
	p.t.Helper()
	for {
		f, err := p.framer.ReadFrame()
		if err != nil {
			return "closed"
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			for _, field := range f.Fields {
				if field.Name == "grpc-status" && f.StreamID == stream {
					return field.Value
				}
			}
			if f.StreamID == stream && f.StreamEnded() {
				return f.PseudoValue("status")
			}
		case *http2.RSTStreamFrame:
			if f.StreamID == stream {
				return f.ErrCode.String()
			}
		case *http2.GoAwayFrame:
			return f.ErrCode.String()
		}
	}
}

func (p *grpcPeer) expect(stream uint32, status string) {
	p.t.Helper()
	if got := p.status(stream); got != status {
		p.t.Errorf("stream %d ended with %q, not %q", stream, got, status)
	}
}

// expectService checks that the sink still counts what others send.
func expectService(t *testing.T, r *running) {
	t.Helper()
	p := connectGRPC(t, r)
	p.call(1, exportRequest(callSpans(1, 10)...), 1000)
	p.expect(1, "0")
}
