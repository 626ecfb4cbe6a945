// Package grpctest is the client's side of gRPC for tests: one that sends what it wants, and grpc-go's own.
package grpctest

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

// PeerFrame is the largest frame of headers that a peer sends.
const PeerFrame = 16 << 10

// Peer is a client that sends what it wants.
type Peer struct {
	t      *testing.T
	Conn   net.Conn
	Framer *http2.Framer
	block  bytes.Buffer
	hpack  *hpack.Encoder
	Path   string // of the method that is called
}

// NewPeer writes frames into a buffer, without a connection.
func NewPeer(t *testing.T, conn net.Conn, to io.Writer) *Peer {
	p := &Peer{t: t, Conn: conn, Framer: http2.NewFramer(to, conn), Path: ExportTraces}
	p.hpack = hpack.NewEncoder(&p.block)
	p.Framer.AllowIllegalWrites = true
	p.Framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return p
}

// Greet says on a connection what a client says first, with the settings given.
func Greet(t *testing.T, conn net.Conn, settings ...http2.Setting) *Peer {
	t.Helper()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	p := NewPeer(t, conn, conn)
	io.WriteString(conn, http2.ClientPreface)
	p.Framer.WriteSettings(settings...)
	return p
}

// Headers begins a call, with more fields than it needs where they are given.
func (p *Peer) Headers(stream uint32, ended bool, more ...string) {
	p.block.Reset()
	fields := append([]string{":method", "POST", ":scheme", "http", ":path", p.Path, "content-type", "application/grpc"}, more...)
	for i := 0; i < len(fields); i += 2 {
		p.hpack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	block := p.block.Bytes()
	first := block[:min(len(block), PeerFrame)]
	p.Framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: first, EndStream: ended, EndHeaders: len(first) == len(block),
	})
	for block = block[len(first):]; len(block) > 0; {
		next := block[:min(len(block), PeerFrame)]
		block = block[len(next):]
		p.Framer.WriteContinuation(stream, len(block) == 0, next)
	}
}

// Framed is a message behind gRPC's flag and length.
func Framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// Call sends a whole call in frames of the given size.
func (p *Peer) Call(stream uint32, message []byte, size int) {
	p.Headers(stream, false)
	for data := Framed(message); len(data) > 0; {
		part := data[:min(size, len(data))]
		data = data[len(part):]
		p.Framer.WriteData(stream, len(data) == 0, part)
	}
}

// Status reads until the call ends, and returns its status, or how it ended otherwise.
func (p *Peer) Status(stream uint32) string {
	p.t.Helper()
	for {
		f, err := p.Framer.ReadFrame()
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

// Expect checks how a call ends, see Status.
func (p *Peer) Expect(stream uint32, status string) {
	p.t.Helper()
	if got := p.Status(stream); got != status {
		p.t.Errorf("stream %d ended with %q, not %q", stream, got, status)
	}
}
