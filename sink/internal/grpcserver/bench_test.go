package grpcserver

import (
	"net"
	"testing"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/samples"
)

// takenCall counts the bytes of its messages.
type takenCall struct{ bytes int64 }

func (c *takenCall) Message(_ []byte, wire int64) error {
	c.bytes += wire
	return nil
}

func (*takenCall) End() ([]byte, error) { return nil, nil }

func (*takenCall) Broken(error, int64) {}

// BenchmarkGRPCMessage takes the messages of a client's stream, each in a frame of its own.
func BenchmarkGRPCMessage(b *testing.B) {
	const messages, size = 2000, 360
	data := grpctest.ConnectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: largestWindow}}, func(p *grpctest.Peer) {
		p.Headers(1, false)
		for range messages {
			p.Framer.WriteData(1, false, grpctest.Framed(make([]byte, size)))
		}
	})
	call := &takenCall{}
	s := testServer(1<<20, call)
	counted := 0
	var cpu samples.CPUTime
	b.SetBytes(size)
	for b.Loop() {
		if counted%messages == 0 {
			cpu.Begin()
			var conn net.Conn = &grpctest.MemoryConn{Data: data, Piece: readBytes}
			newConnection(s, conn).run()
			cpu.End()
		}
		counted++
	}
	if rounds := (counted + messages - 1) / messages; call.bytes != int64(rounds*messages*size) {
		b.Fatalf("%d bytes in %d rounds", call.bytes, rounds)
	}
	cpu.Report(b, counted)
}
