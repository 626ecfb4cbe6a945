// Package sinktest runs the sink for tests.
package sinktest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/control"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
)

// Obey gives the commands to a sink and returns its answers but for the greeting.
func Obey(t *testing.T, spoken protocol.Table, commands string) []string {
	t.Helper()
	arguments := []string{"--depth", "10", "--record-name", samples.SpanName, "--max-open-trees", "10", "--max-memory", fmt.Sprint(bounds.LeastMemory)}
	var answers, complaints bytes.Buffer
	if status := control.Run(spoken, arguments, strings.NewReader(commands), &answers, &complaints); status != 0 {
		t.Fatalf("exit status %d: %s", status, complaints.String())
	}
	return strings.Split(strings.TrimSpace(answers.String()), "\n")[1:]
}

// Running is a sink driven through its main function.
type Running struct {
	t        *testing.T
	Stdin    io.WriteCloser
	answers  *json.Decoder
	Ports    map[string]int
	Finished chan int
}

// Start starts a sink that speaks these protocols.
func Start(t *testing.T, spoken protocol.Table, arguments ...string) *Running {
	t.Helper()
	stdinRead, stdinWrite := io.Pipe()
	stdoutRead, stdoutWrite := io.Pipe()
	// The buffer takes every answer whole: the decoder alone may leave a line's end unread, on which the sink would wait.
	answers := json.NewDecoder(bufio.NewReaderSize(stdoutRead, 64<<10))
	r := &Running{t: t, Stdin: stdinWrite, answers: answers, Finished: make(chan int, 1)}
	go func() {
		status := control.Run(spoken, arguments, stdinRead, stdoutWrite, io.Discard)
		stdoutWrite.Close()
		r.Finished <- status
	}()
	t.Cleanup(func() { stdinWrite.Close(); stdoutRead.Close() })
	var hello control.Greeting
	r.Read(&hello)
	r.Ports = hello.Ports
	return r
}

// Read waits for the next line of the sink.
func (r *Running) Read(answer any) {
	r.t.Helper()
	if err := r.answers.Decode(answer); err != nil {
		r.t.Fatalf("no answer: %v", err)
	}
}

// Ask gives a command and waits for its answer.
func (r *Running) Ask(command string, answer any) {
	r.t.Helper()
	if _, err := io.WriteString(r.Stdin, command+"\n"); err != nil {
		r.t.Fatalf("the sink takes no command: %v", err)
	}
	r.Read(answer)
}

// Await polls the counts until they satisfy the condition.
func (r *Running) Await(what string, condition func(sink.Counts) bool) {
	r.t.Helper()
	var c sink.Counts
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		r.Ask("counts", &c)
		if condition(c) {
			return
		}
	}
	r.t.Fatalf("never %s: %+v", what, c)
}

// Stop ends the sink and returns its last report.
func (r *Running) Stop() sink.Report {
	r.t.Helper()
	var last sink.Report
	r.Ask("stop", &last)
	if status := <-r.Finished; status != 0 {
		r.t.Errorf("exit status %d", status)
	}
	return last
}

// Dial connects to the port of a protocol.
func (r *Running) Dial(protocol string) net.Conn {
	r.t.Helper()
	conn, err := net.DialTCP("tcp4", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: r.Ports[protocol]})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return conn
}

// Write sends all of the data.
func Write(t *testing.T, conn net.Conn, data []byte) {
	t.Helper()
	if _, err := conn.Write(data); err != nil {
		t.Errorf("the sink does not read: %v", err)
	}
}
