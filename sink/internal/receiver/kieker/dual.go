package kieker

import (
	"net"
	"sync"
	"time"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
	"tracetax/sink/internal/protocol"
)

const (
	// maxWaiting is how many bytes of records wait for a string. Kieker 1.8 sends strings through the queue of its
	// records, so that one may come behind all 10,000 that this holds.
	maxWaiting = 1 << 20
	// lateStrings is how long strings may come after the last record.
	lateStrings = time.Second
	// maxAlone is how many connections may have spoken whose counterpart has not.
	maxAlone = 64

	entryHead = 8
)

// newDualReceiver reads records on the protocol's port, and strings on the one beside it.
func newDualReceiver(recordName string, l *ledger.Ledger, _ *message.Memory) protocol.Receiver {
	k := &dualReceiver{recordName: recordName, ledger: l}
	k.records = network.NewConnections(nil, k.readRecords)
	k.strings = network.NewConnections(nil, k.readStrings)
	return k
}

// dualReceiver puts two connections of an agent together: those that have spoken first on their ports, then the next
// ones. Nothing in them says which belong together.
type dualReceiver struct {
	recordName       string
	ledger           *ledger.Ledger
	records, strings *network.Connections

	mu                        sync.Mutex
	aloneRecords, aloneString []*sender // the oldest first
}

func (k *dualReceiver) Serve(l net.Listener)       { k.records.Serve(l) }
func (k *dualReceiver) ServeBeside(l net.Listener) { k.strings.Serve(l) }

func (k *dualReceiver) Stop(grace time.Duration) {
	var ending sync.WaitGroup
	ending.Go(func() { k.strings.Stop(grace) })
	k.records.Stop(grace)
	ending.Wait()
}

// join is the sender that a connection belongs to: the oldest whose counterpart has come, or a new one.
func (k *dualReceiver) join(mine, others *[]*sender) *sender {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(*others) > 0 {
		s := (*others)[0]
		*others = (*others)[1:]
		return s
	}
	s := newSender(k.recordName)
	if *mine = append(*mine, s); len(*mine) > maxAlone {
		*mine = (*mine)[1:]
	}
	return s
}

// leave forgets records whose strings have not come: another agent's must not be taken for them.
func (k *dualReceiver) leave(s *sender) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, alone := range k.aloneRecords {
		if alone == s {
			k.aloneRecords = append(k.aloneRecords[:i], k.aloneRecords[i+1:]...)
			return
		}
	}
}

// readRecords counts what the connection brings until it ends, and waits then for strings that are missing.
func (k *dualReceiver) readRecords(conn net.Conn) {
	s := k.join(&k.aloneRecords, &k.aloneString)
	defer k.leave(s)
	s.wakeBy(func() { k.records.Until(conn.SetReadDeadline, time.Now()) })
	b := ledger.NewBatch(readBytes / executionBytes)
	b.Requests = 1
	buffer := make([]byte, readBytes)
	rest, woken := 0, false
	for {
		if rest == len(buffer) { // all of it waits for a string
			buffer = append(buffer, make([]byte, min(len(buffer), maxWaiting-len(buffer)))...)
		}
		n, err := conn.Read(buffer[rest:])
		if n > 0 {
			b.ArrivalNs = clock.MonotonicNs()
		}
		b.Bytes += int64(n)
		rest, woken = s.takeRecords(buffer[:rest+n], b)
		k.ledger.Apply(b)
		if woken {
			k.records.Until(conn.SetReadDeadline, time.Time{})
			continue
		}
		if err != nil {
			break
		}
	}
	b.ArrivalNs = clock.MonotonicNs()
	s.endRecords(buffer[:rest], b)
	k.ledger.Apply(b)
}

// readStrings takes the strings that the connection brings until it ends.
func (k *dualReceiver) readStrings(conn net.Conn) {
	s := k.join(&k.aloneString, &k.aloneRecords)
	b := ledger.NewBatch(0)
	buffer := make([]byte, entryHead+maxStringBytes)
	rest := 0
	for {
		n, err := conn.Read(buffer[rest:])
		b.Bytes += int64(n)
		rest = s.takeStrings(buffer[:rest+n], b)
		if err != nil {
			s.endStrings(rest, b)
			k.ledger.Apply(b)
			return
		}
		k.ledger.Apply(b)
	}
}
