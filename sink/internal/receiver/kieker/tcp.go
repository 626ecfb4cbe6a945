package kieker

import (
	"net"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
	"tracetax/sink/internal/protocol"
)

const (
	readBytes  = 256 << 10
	batchBytes = readBytes / executionBytes * recordBytes
)

// newReceiver reads streams.
func newReceiver(recordName string, l *ledger.Ledger, _ *message.Memory) protocol.Receiver {
	k := &receiver{recordName: recordName, ledger: l}
	return network.NewConnections(nil, k.read)
}

// receiver reads the streams of connections.
type receiver struct {
	recordName string
	ledger     *ledger.Ledger
}

// read counts what the connection brings until it ends.
func (k *receiver) read(conn net.Conn) {
	stream := newStream(k.recordName)
	b := ledger.NewBatch(readBytes / executionBytes)
	b.Requests = 1
	buffer := make([]byte, readBytes)
	rest := 0
	for {
		n, err := conn.Read(buffer[rest:])
		b.ArrivalNs = clock.MonotonicNs()
		b.Bytes += int64(n)
		rest = stream.Consume(buffer[:rest+n], b)
		if err != nil {
			if rest > 0 {
				b.CutOff++
			}
			stream.End(b)
			k.ledger.Apply(b)
			return
		}
		k.ledger.Apply(b)
	}
}
