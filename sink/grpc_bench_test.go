package main

import (
	"net"
	"testing"

	"golang.org/x/net/http2"
)

// takenCall counts the bytes of its messages.
type takenCall struct{ bytes int64 }

func (c *takenCall) message(_ []byte, wire int64) error {
	c.bytes += wire
	return nil
}
func (*takenCall) end() ([]byte, error) { return nil, nil }
func (*takenCall) broken(error, int64)  {}

// BenchmarkGRPCMessage takes the messages of a client's stream, each in a frame of its own.
func BenchmarkGRPCMessage(b *testing.B) {
	const messages, size = 2000, 360
	data := connectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: largestWindow}}, func(p *grpcPeer) {
		p.headers(1, false)
		for range messages {
			p.framer.WriteData(1, false, framed(make([]byte, size)))
		}
	})
	call := &takenCall{}
	s := testServer(1<<20, call)
	counted := 0
	var cpu cpuTime
	b.SetBytes(size)
	for b.Loop() {
		if counted%messages == 0 {
			cpu.begin()
			var conn net.Conn = &memoryConn{data: data, piece: grpcReadBytes}
			newGRPCConn(s, conn).run()
			cpu.end()
		}
		counted++
	}
	if rounds := (counted + messages - 1) / messages; call.bytes != int64(rounds*messages*size) {
		b.Fatalf("%d bytes in %d rounds", call.bytes, rounds)
	}
	cpu.report(b, counted)
}
