package pinpoint

import (
	"math"
	"net"
	"testing"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

// BenchmarkPinpointRecord counts what a connection brings, from its bytes to the trees: calls of depth 10, one a message.
func BenchmarkPinpointRecord(b *testing.B) {
	const calls, depth = 2000, 10
	data := grpctest.ConnectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: math.MaxInt32}}, func(p *grpctest.Peer) {
		p.Path = sendAPIName
		p.Headers(1, false)
		p.Framer.WriteData(1, true, grpctest.Framed(apiNameMessage(testAPI, testAPIName)))
		p.Path = sendSpan
		p.Headers(3, false)
		for transaction := range uint64(calls) {
			p.Framer.WriteData(3, false, grpctest.Framed(pinpointCalls(transaction, depth, 20)[0]))
		}
	})
	counted := 0
	var cpu samples.CPUTime
	b.SetBytes(int64(len(data) / (calls * depth)))
	for b.Loop() {
		if counted%(calls*depth) == 0 {
			b.StopTimer()
			l := ledger.New(tree.NewTable(Protocol.Structure(), depth, 1_000_000, 384<<20), Protocol.Signals)
			s := Protocol.Receiver(samples.Method, l, message.NewMemory(1<<20, 2<<20)).(interface{ ServeConn(net.Conn) })
			b.StartTimer()
			cpu.Begin()
			s.ServeConn(&grpctest.MemoryConn{Data: data, Piece: 128 << 10})
			cpu.End()
			if got := l.Close(); got.CompleteTrees != calls {
				b.Fatalf("counted %+v", got)
			}
		}
		counted++
	}
	cpu.Report(b, counted)
}
