// Package floor is the compact stream of Tracetax's own tracer (agents/floor).
package floor

import (
	"net"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

const readBytes = 256 << 10

// Protocol is a stream of frames, read to its end. What follows a frame that cannot be understood is read and thrown
// away, so that the sender is not blocked, and the connection counts once as malformed.
var Protocol = protocol.Protocol{
	ConnectionBytes: readBytes + batchBytes + memoryBytes,
	Structure:       func() tree.Structure { return &tree.ExecutionChain{} },
	Receiver: func(recordName string, l *ledger.Ledger, _ *message.Memory) protocol.Receiver {
		return network.NewConnections(nil, func(conn net.Conn) { read(conn, recordName, l) })
	},
}

// read counts what a connection brings until it ends.
func read(conn net.Conn, recordName string, l *ledger.Ledger) {
	s := newStream(recordName)
	b := ledger.NewBatch(ledger.BatchRecords)
	b.Requests = 1
	buffer := make([]byte, readBytes)
	rest := 0
	for {
		n, err := conn.Read(buffer[rest:])
		b.ArrivalNs = clock.MonotonicNs()
		b.Bytes += int64(n)
		rest = s.consume(buffer[:rest+n], b, l)
		if err != nil {
			if rest > 0 {
				b.CutOff++
			}
			l.Apply(b)
			return
		}
		l.Apply(b)
	}
}
