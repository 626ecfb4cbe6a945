package main

import (
	"testing"

	"golang.org/x/net/http2"
)

// BenchmarkPinpointRecord counts what a connection brings, from its bytes to the trees: calls of depth 10, one a message.
func BenchmarkPinpointRecord(b *testing.B) {
	const calls, depth = 2000, 10
	data := connectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: largestWindow}}, func(p *grpcPeer) {
		p.path = sendAPIName
		p.headers(1, false)
		p.framer.WriteData(1, true, framed(apiNameMessage(testAPI, testAPIName)))
		p.path = sendSpan
		p.headers(3, false)
		for transaction := range uint64(calls) {
			p.framer.WriteData(3, false, framed(pinpointCalls(transaction, depth, 20)[0]))
		}
	})
	counted := 0
	var cpu cpuTime
	b.SetBytes(int64(len(data) / (calls * depth)))
	for b.Loop() {
		if counted%(calls*depth) == 0 {
			b.StopTimer()
			l := newLedger(newTreeTable(pinpoint.structure(), depth, defaultMaxOpenTrees, 384<<20), pinpoint.signals)
			s := pinpoint.receiver(testMethod, l, newMessages(1<<20, 2<<20)).(*grpcServer)
			c := newGRPCConn(s, &memoryConn{data: data, piece: grpcReadBytes})
			b.StartTimer()
			cpu.begin()
			c.run()
			cpu.end()
			if got := l.close(); got.CompleteTrees != calls {
				b.Fatalf("counted %+v", got)
			}
		}
		counted++
	}
	cpu.report(b, counted)
}
