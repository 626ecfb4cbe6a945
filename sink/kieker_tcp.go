package main

import (
	"errors"
	"net"
	"sync"
	"time"
)

const (
	kiekerReadBytes  = 256 << 10
	kiekerBatchBytes = kiekerReadBytes / executionBytes * recordBytes
	acceptPause      = 20 * time.Millisecond
)

// kiekerTCP is Kieker's single socket protocol: a stream of records without framing, read to its end.
// What follows an unknown record cannot be understood: the rest of that connection is read and thrown away, so that
// the sender is not blocked, and the connection counts once as malformed.
var kiekerTCP = protocol{
	connectionBytes: kiekerReadBytes + kiekerBatchBytes + maxRegistryBytes,
	structure:       func() structure { return &executionChain{} },
	receiver: func(recordName string, l *ledger, _ *messages) receiver {
		return &kiekerReceiver{recordName: recordName, ledger: l, conns: map[net.Conn]struct{}{}}
	},
}

type kiekerReceiver struct {
	recordName string
	ledger     *ledger

	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	stopping time.Time // when reading ends; zero while the sink runs
	reading  sync.WaitGroup
}

func (k *kiekerReceiver) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of file descriptors, or the sender is gone already.
			time.Sleep(acceptPause)
			continue
		}
		if !k.enter(conn) {
			conn.Close()
			return
		}
		go func() {
			defer k.leave(conn)
			k.read(conn)
		}()
	}
}

func (k *kiekerReceiver) enter(conn net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.stopping.IsZero() {
		return false
	}
	k.conns[conn] = struct{}{}
	k.reading.Add(1)
	return true
}

func (k *kiekerReceiver) leave(conn net.Conn) {
	conn.Close()
	k.mu.Lock()
	delete(k.conns, conn)
	k.mu.Unlock()
	k.reading.Done()
}

func (k *kiekerReceiver) stop(grace time.Duration) {
	k.mu.Lock()
	k.stopping = time.Now().Add(grace)
	for conn := range k.conns {
		// A failure means that the connection is closed already.
		_ = conn.SetReadDeadline(k.stopping)
	}
	k.mu.Unlock()
	k.reading.Wait()
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
