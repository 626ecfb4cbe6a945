package main

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// memoryConn is a connection whose client has sent everything already, and reads nothing of what it is answered.
type memoryConn struct {
	net.Conn
	data  []byte
	piece int
}

func (m *memoryConn) Read(p []byte) (int, error) {
	if len(m.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.data[:min(len(m.data), m.piece)])
	m.data = m.data[n:]
	return n, nil
}

func (m *memoryConn) Write(p []byte) (int, error)      { return len(p), nil }
func (m *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (m *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// countConnection counts what one connection brings that delivers its bytes in pieces of a size.
func countConnection(t *testing.T, p protocol, recordName string, depth int, data []byte, piece int) protocolCount {
	l := newLedger(newTreeTable(p.structure(), depth, 1000, 8<<20), p.signals)
	m := newMessages(1<<20, 2<<20)
	s := p.receiver(recordName, l, m).(*grpcServer)
	c := newGRPCConn(s, &memoryConn{data: data, piece: piece})
	c.run()
	if held := m.budget.used.Load(); held != 0 || len(c.streams) != 0 || c.waiting != 0 {
		t.Fatalf("%d bytes, %d streams and %d replies are left", held, len(c.streams), c.waiting)
	}
	if c.out.Cap() > 2*grpcReplyBytes+grpcFrame {
		t.Fatalf("the replies take %d bytes", c.out.Cap())
	}
	return l.close()
}

// connectionBytes is what a client sends on a connection that acts so.
func connectionBytes(settings []http2.Setting, act func(*grpcPeer)) []byte {
	var sent bytes.Buffer
	sent.WriteString(http2.ClientPreface)
	p := newGRPCPeer(nil, nil, &sent)
	p.framer.WriteSettings(settings...)
	act(p)
	return sent.Bytes()
}

func FuzzGRPC(f *testing.F) {
	request := exportRequest(callSpans(1, 3)...)
	f.Add(connectionBytes(nil, func(p *grpcPeer) {
		p.call(1, request, 100)
		p.call(3, request, 1<<20)
	}), uint16(9))
	f.Add(connectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize}}, func(p *grpcPeer) {
		p.call(1, request, 1<<20)
		p.framer.WriteDataPadded(1, false, nil, make([]byte, 9))
		p.framer.WriteWindowUpdate(1, 5)
		p.headers(3, false, "grpc-encoding", "gzip")
		p.framer.WriteData(3, false, append([]byte{1}, framed(request)[1:]...))
		p.framer.WritePing(false, [8]byte{})
		p.headers(5, false)
		p.framer.WriteData(5, false, framed(request)[:40])
		p.framer.WriteRSTStream(5, http2.ErrCodeCancel)
		p.headers(7, false, "x", string(make([]byte, 2*grpcFrame)))
		p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000})
	}), uint16(1000))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := countConnection(t, otlpGRPC, testSpan, 3, data, len(data))
		checkTrees(t, 3, whole)
		if whole.Bytes > int64(len(data)) {
			t.Fatalf("%d bytes are %+v", len(data), whole)
		}
		inPieces := countConnection(t, otlpGRPC, testSpan, 3, data, int(piece)+1)
		if inPieces.Requests != whole.Requests || inPieces.Bytes != whole.Bytes {
			t.Fatalf("whole %+v, in pieces %+v", whole, inPieces)
		}
		whole.Requests, whole.Bytes, whole.FirstArrivalNs, whole.LastArrivalNs = 0, 0, 0, 0
		expectCount(t, inPieces, whole)
	})
}
