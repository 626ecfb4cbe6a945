package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

// TestMain lets a test start this program as the sink, in a process whose memory is its own.
func TestMain(m *testing.M) {
	if os.Getenv("SINK_ITSELF") != "" {
		main()
	}
	os.Exit(m.Run())
}

// send writes all that a connection takes in a while, which keeps it open.
func send(conn net.Conn, data ...[]byte) {
	conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	for _, one := range data {
		if _, err := conn.Write(one); err != nil {
			return
		}
	}
}

// What each protocol may hold at most: connections, strings of a registry, bytes of headers.
const (
	mostConnections = 64
	mostStrings     = 1 << 14
	mostHeaders     = 16 << 10
)

// hold fills every share of the sink's memory at once: messages that do not end, trees with one record too many,
// registries of many short strings, and headers of many short fields.
func hold(r *sinktest.Running, trees, depth int) {
	var holding []chan struct{}
	begin := func(act func()) {
		done := make(chan struct{})
		holding = append(holding, done)
		go func() { defer close(done); act() }()
	}
	begin(func() {
		conn := r.Dial("kieker-tcp")
		w := samples.NewKiekerWriter()
		for trace := range trees {
			for level := range depth + 1 {
				w.Execution(samples.Execution{Trace: int64(trace), EOI: int32(level), ESS: int32(level), Start: 1, End: 2})
			}
			if len(w.Data) > 1<<20 {
				send(conn, w.Data)
				w.Data = w.Data[:0]
			}
		}
		send(conn, w.Data)
	})
	// Only some of the connections find a place: this one is to be among them.
	r.Await("begun", func(c sink.Counts) bool { return c.Records > 0 })
	for range mostConnections {
		begin(func() {
			w := samples.NewKiekerWriter()
			for i := len(w.Ids); i < mostStrings; i++ {
				w.ID(fmt.Sprintf("%058d", i))
			}
			send(r.Dial("kieker-tcp"), w.Data)
		})
	}
	chunk := append([]byte("100000\r\n"), make([]byte, 1<<20+2)...)
	copy(chunk[len(chunk)-2:], "\r\n")
	for i := range mostConnections {
		begin(func() {
			conn := r.Dial("otlp-http")
			head := "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
			var fields bytes.Buffer
			for f := 0; fields.Len() < mostHeaders-512; f++ {
				fmt.Fprintf(&fields, "%x:\r\n", f)
			}
			if i%2 == 0 {
				fields.Reset()
			}
			send(conn, []byte(head+fields.String()+"Transfer-Encoding: chunked\r\n\r\n"))
			for range 40 {
				send(conn, chunk)
			}
		})
	}
	for _, done := range holding {
		<-done
	}
}

func TestAllThatIsHeldTogetherFitsIntoTheMemoryAllowed(t *testing.T) {
	if underRace {
		t.Skip("the race detector's own memory counts too")
	}
	const allowed, depth, trees = 256 << 20, 20, 120_000
	r := sinktest.StartProcess(t, "--protocols", "kieker-tcp,otlp-http", "--depth", fmt.Sprint(depth), "--record-name", samples.Method,
		"--max-memory", fmt.Sprint(allowed))
	hold(r, trees, depth)
	var last sink.Report
	r.Ask("phase next", &last)
	if last.MaxRSSBytes > allowed {
		t.Errorf("%d MiB were occupied, %d are allowed", last.MaxRSSBytes>>20, allowed>>20)
	}
	count := last.Protocols["kieker-tcp"]
	if last.Protocols["otlp-http"].Refused == 0 || count.EvictedTrees == 0 {
		t.Errorf("not every share was full: %+v", last.Protocols)
	}
	t.Logf("%d MiB occupied, %d trees evicted", last.MaxRSSBytes>>20, count.EvictedTrees)
	_, _ = io.WriteString(r.Stdin, "stop\n")
}
