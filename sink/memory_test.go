package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain lets a test start this program as the sink, in a process whose memory is its own.
func TestMain(m *testing.M) {
	if os.Getenv("SINK_ITSELF") != "" {
		main()
	}
	os.Exit(m.Run())
}

// startProcess starts the sink in a process of its own.
func startProcess(t *testing.T, arguments ...string) *running {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), "SINK_ITSELF=1")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	r := &running{t: t, stdin: stdin, answers: json.NewDecoder(bufio.NewReader(stdout)), finished: make(chan int, 1)}
	r.finished <- 0
	var hello greeting
	r.read(&hello)
	r.ports = hello.Ports
	return r
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

// hold fills every share of the sink's memory at once: messages that do not end, trees with one record too many,
// registries of many short strings, and headers of many short fields.
func hold(r *running, trees, depth int) {
	var holding []chan struct{}
	begin := func(act func()) {
		done := make(chan struct{})
		holding = append(holding, done)
		go func() { defer close(done); act() }()
	}
	begin(func() {
		conn := r.dial("kieker-tcp")
		w := newKiekerWriter()
		for trace := range trees {
			for level := range depth + 1 {
				w.execution(execution{trace: int64(trace), eoi: int32(level), ess: int32(level), start: 1, end: 2})
			}
			if len(w.data) > 1<<20 {
				send(conn, w.data)
				w.data = w.data[:0]
			}
		}
		send(conn, w.data)
	})
	for range maxConnections {
		begin(func() {
			w := newKiekerWriter()
			for i := len(w.ids); i < maxStrings; i++ {
				w.id(fmt.Sprintf("%058d", i))
			}
			send(r.dial("kieker-tcp"), w.data)
		})
	}
	chunk := append([]byte("100000\r\n"), make([]byte, 1<<20+2)...)
	copy(chunk[len(chunk)-2:], "\r\n")
	for i := range maxConnections {
		begin(func() {
			conn := r.dial("otlp-http")
			head := "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
			var fields strings.Builder
			for f := 0; fields.Len() < maxHeaders-512; f++ {
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
	if testing.Short() {
		t.Skip("the race detector takes several times the memory of the program")
	}
	const allowed, depth, trees = 256 << 20, 20, 120_000
	r := startProcess(t, "--protocols", "kieker-tcp,otlp-http", "--depth", fmt.Sprint(depth), "--record-name", testMethod,
		"--max-memory", fmt.Sprint(allowed))
	hold(r, trees, depth)
	var last report
	r.ask("phase next", &last)
	if last.MaxRSSBytes > allowed {
		t.Errorf("%d MiB were occupied, %d are allowed", last.MaxRSSBytes>>20, allowed>>20)
	}
	count := last.Protocols["kieker-tcp"]
	if last.Protocols["otlp-http"].Refused == 0 || count.EvictedTrees == 0 {
		t.Errorf("not every share was full: %+v", last.Protocols)
	}
	t.Logf("%d MiB occupied, %d trees evicted", last.MaxRSSBytes>>20, count.EvictedTrees)
	_, _ = io.WriteString(r.stdin, "stop\n")
}
