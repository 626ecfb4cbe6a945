package grpctest

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// MemoryConn is a connection whose client has sent everything already, and reads nothing of what it is answered.
type MemoryConn struct {
	net.Conn
	Data  []byte
	Piece int
}

// Read gives the next piece.
func (m *MemoryConn) Read(p []byte) (int, error) {
	if len(m.Data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.Data[:min(len(m.Data), m.Piece)])
	m.Data = m.Data[n:]
	return n, nil
}

// Write throws away what the client is answered.
func (m *MemoryConn) Write(p []byte) (int, error) { return len(p), nil }

// SetReadDeadline is ignored: nothing is waited for.
func (m *MemoryConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline is ignored too.
func (m *MemoryConn) SetWriteDeadline(time.Time) error { return nil }

// CountConnection counts what one connection brings that delivers its bytes in pieces of a size.
func CountConnection(t *testing.T, p protocol.Protocol, recordName string, depth int, data []byte, piece int) account.Account {
	l := ledger.New(tree.NewTable(p.Structure(), depth, 1000, 8<<20), p.Signals)
	m := message.NewMemory(1<<20, 2<<20)
	s := p.Receiver(recordName, l, m).(interface{ ServeConn(net.Conn) })
	s.ServeConn(&MemoryConn{Data: data, Piece: piece})
	if held := m.Held(); held != 0 {
		t.Fatalf("%d bytes are left", held)
	}
	return l.Close()
}

// ConnectionBytes is what a client sends on a connection that acts so.
func ConnectionBytes(settings []http2.Setting, act func(*Peer)) []byte {
	var sent bytes.Buffer
	sent.WriteString(http2.ClientPreface)
	p := NewPeer(nil, nil, &sent)
	p.Framer.WriteSettings(settings...)
	act(p)
	return sent.Bytes()
}
