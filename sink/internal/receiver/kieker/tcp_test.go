package kieker

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

func TestSeveralKiekerConnectionsAtOnceAreCountedExactly(t *testing.T) {
	r := start(t)
	var writers sync.WaitGroup
	for i := range int64(8) {
		writers.Go(func() {
			w := samples.NewKiekerWriter()
			for trace := range int64(2000) {
				w.Call(i<<32|trace, 10)
			}
			conn := r.Dial("kieker-tcp")
			sinktest.Write(t, conn, w.Data)
			conn.Close()
		})
	}
	writers.Wait()
	r.Await("complete", func(c sink.Counts) bool { return c.Records == 160_000 && c.OpenConnections == 0 })
	c := r.Stop().Protocols["kieker-tcp"]
	if c.Requests != 8 {
		t.Errorf("%d connections", c.Requests)
	}
	samples.ExpectCount(t, c, account.Account{Records: 160_000, CompleteTrees: 16_000})
}

func TestMoreConnectionsThanAllowedWaitTheirTurn(t *testing.T) {
	r := start(t, "--max-memory", "16777216")
	var conns []net.Conn
	for trace := range int64(40) {
		w := samples.NewKiekerWriter()
		w.Call(trace, 10)
		conn := r.Dial("kieker-tcp")
		sinktest.Write(t, conn, w.Data)
		conns = append(conns, conn)
	}
	limit := bounds.Divide(16<<20, 1).Connections(TCP.ConnectionBytes)
	r.Await("full", func(c sink.Counts) bool { return c.OpenConnections == limit && c.Records == int64(10*limit) })
	for _, conn := range conns {
		conn.Close()
	}
	r.Await("complete", func(c sink.Counts) bool { return c.Records == 400 && c.OpenConnections == 0 })
}

func TestWhatFollowsAnUnknownRecordIsReadAndThrownAway(t *testing.T) {
	r := start(t)
	w := samples.NewKiekerWriter()
	w.Call(1, 10)
	w.Execution(samples.Execution{Class: "some.Record"})
	conn := r.Dial("kieker-tcp")
	sinktest.Write(t, conn, w.Data)
	sinktest.Write(t, conn, make([]byte, 8<<20))
	r.Await("read", func(c sink.Counts) bool { return c.Bytes == int64(len(w.Data)+8<<20) })
	samples.ExpectCount(t, r.Stop().Protocols["kieker-tcp"], account.Account{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestAConnectionThatEndsWithinARecordIsCutOff(t *testing.T) {
	r := start(t)
	w := samples.NewKiekerWriter()
	w.Call(1, 10)
	conn := r.Dial("kieker-tcp")
	sinktest.Write(t, conn, w.Data[:len(w.Data)-1])
	conn.Close()
	r.Await("ended", func(c sink.Counts) bool { return c.Records == 9 && c.OpenConnections == 0 })
	samples.ExpectCount(t, r.Stop().Protocols["kieker-tcp"], account.Account{Records: 9, PartialTrees: 1, Orphans: 1, CutOff: 1})
}

func TestAnEndlessSenderDoesNotKeepTheSinkFromStopping(t *testing.T) {
	r := start(t)
	conn := r.Dial("kieker-tcp")
	go func() {
		garbage := bytes.Repeat([]byte{1}, 1<<16)
		for {
			if _, err := conn.Write(garbage); err != nil {
				return
			}
		}
	}()
	r.Await("read", func(c sink.Counts) bool { return c.Bytes > 1<<20 })
	if last := r.Stop(); last.OpenConnections != 1 || last.Protocols["kieker-tcp"].Malformed != 1 {
		t.Errorf("reported %+v", last)
	}
}

func TestWhatWasSentBeforeTheStopIsCounted(t *testing.T) {
	r := start(t)
	w := samples.NewKiekerWriter()
	for trace := range int64(1000) {
		w.Call(trace, 10)
	}
	conn := r.Dial("kieker-tcp")
	r.Await("connected", func(c sink.Counts) bool { return c.OpenConnections == 1 })
	sinktest.Write(t, conn, w.Data)
	samples.ExpectCount(t, r.Stop().Protocols["kieker-tcp"], account.Account{Records: 10_000, CompleteTrees: 1000})
}
