package main

import "net"

const (
	kiekerReadBytes  = 256 << 10
	kiekerBatchBytes = kiekerReadBytes / executionBytes * recordBytes
)

// kiekerTCP is Kieker's single socket protocol: a stream of records without framing, read to its end.
// What follows an unknown record cannot be understood: the rest of that connection is read and thrown away, so that
// the sender is not blocked, and the connection counts once as malformed.
var kiekerTCP = protocol{
	connectionBytes: kiekerReadBytes + kiekerBatchBytes + maxRegistryBytes + registryPlaces,
	structure:       func() structure { return &executionChain{} },
	receiver: func(recordName string, l *ledger, _ *messages) receiver {
		k := &kiekerReceiver{recordName: recordName, ledger: l}
		return newConnections(nil, k.read)
	},
}

type kiekerReceiver struct {
	recordName string
	ledger     *ledger
}

// read counts what the connection brings until it ends.
func (k *kiekerReceiver) read(conn net.Conn) {
	stream := newKiekerStream(k.recordName)
	b := newBatch(kiekerReadBytes / executionBytes)
	b.requests = 1
	buffer := make([]byte, kiekerReadBytes)
	rest := 0
	for {
		n, err := conn.Read(buffer[rest:])
		b.arrivalNs = monotonicNs()
		b.bytes += int64(n)
		rest = stream.consume(buffer[:rest+n], b)
		if err != nil {
			if rest > 0 {
				b.cutOff++
			}
			k.ledger.apply(b)
			return
		}
		k.ledger.apply(b)
	}
}
