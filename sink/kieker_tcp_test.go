package main

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

func startKieker(t *testing.T, arguments ...string) *running {
	t.Helper()
	return start(t, append([]string{"--protocols", "kieker-tcp", "--depth", "10", "--record-name", testMethod}, arguments...)...)
}

func write(t *testing.T, conn net.Conn, data []byte) {
	t.Helper()
	if _, err := conn.Write(data); err != nil {
		t.Errorf("the sink does not read: %v", err)
	}
}

func TestSeveralKiekerConnectionsAtOnceAreCountedExactly(t *testing.T) {
	r := startKieker(t)
	var writers sync.WaitGroup
	for i := range int64(8) {
		writers.Go(func() {
			w := newKiekerWriter()
			for trace := range int64(2000) {
				w.call(i<<32|trace, 10)
			}
			conn := r.dial("kieker-tcp")
			write(t, conn, w.data)
			conn.Close()
		})
	}
	writers.Wait()
	r.await("complete", func(c counts) bool { return c.Records == 160_000 && c.OpenConnections == 0 })
	c := r.stop().Protocols["kieker-tcp"]
	if c.Requests != 8 {
		t.Errorf("%d connections", c.Requests)
	}
	expectCount(t, c, protocolCount{Records: 160_000, CompleteTrees: 16_000})
}

func TestMoreConnectionsThanAllowedWaitTheirTurn(t *testing.T) {
	r := startKieker(t, "--max-memory", "16777216")
	var conns []net.Conn
	for trace := range int64(40) {
		w := newKiekerWriter()
		w.call(trace, 10)
		conn := r.dial("kieker-tcp")
		write(t, conn, w.data)
		conns = append(conns, conn)
	}
	limit := divide(16<<20, 1).connections(kiekerTCP.connectionBytes)
	r.await("full", func(c counts) bool { return c.OpenConnections == limit && c.Records == int64(10*limit) })
	for _, conn := range conns {
		conn.Close()
	}
	r.await("complete", func(c counts) bool { return c.Records == 400 && c.OpenConnections == 0 })
}

func TestWhatFollowsAnUnknownRecordIsReadAndThrownAway(t *testing.T) {
	r := startKieker(t)
	w := newKiekerWriter()
	w.call(1, 10)
	w.execution(execution{class: "some.Record"})
	conn := r.dial("kieker-tcp")
	write(t, conn, w.data)
	write(t, conn, make([]byte, 8<<20))
	r.await("read", func(c counts) bool { return c.Bytes == int64(len(w.data)+8<<20) })
	expectCount(t, r.stop().Protocols["kieker-tcp"], protocolCount{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestAConnectionThatEndsWithinARecordIsCutOff(t *testing.T) {
	r := startKieker(t)
	w := newKiekerWriter()
	w.call(1, 10)
	conn := r.dial("kieker-tcp")
	write(t, conn, w.data[:len(w.data)-1])
	conn.Close()
	r.await("ended", func(c counts) bool { return c.Records == 9 && c.OpenConnections == 0 })
	expectCount(t, r.stop().Protocols["kieker-tcp"], protocolCount{Records: 9, PartialTrees: 1, Orphans: 1, CutOff: 1})
}

func TestAnEndlessSenderDoesNotKeepTheSinkFromStopping(t *testing.T) {
	r := startKieker(t)
	conn := r.dial("kieker-tcp")
	go func() {
		garbage := bytes.Repeat([]byte{1}, 1<<16)
		for {
			if _, err := conn.Write(garbage); err != nil {
				return
			}
		}
	}()
	r.await("read", func(c counts) bool { return c.Bytes > 1<<20 })
	if last := r.stop(); last.OpenConnections != 1 || last.Protocols["kieker-tcp"].Malformed != 1 {
		t.Errorf("reported %+v", last)
	}
}

func TestWhatWasSentBeforeTheStopIsCounted(t *testing.T) {
	r := startKieker(t)
	w := newKiekerWriter()
	for trace := range int64(1000) {
		w.call(trace, 10)
	}
	conn := r.dial("kieker-tcp")
	r.await("connected", func(c counts) bool { return c.OpenConnections == 1 })
	write(t, conn, w.data)
	expectCount(t, r.stop().Protocols["kieker-tcp"], protocolCount{Records: 10_000, CompleteTrees: 1000})
}
