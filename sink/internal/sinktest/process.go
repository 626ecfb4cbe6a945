package sinktest

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"tracetax/sink/internal/control"
)

// StartProcess starts the sink in a process of its own.
func StartProcess(t *testing.T, arguments ...string) *Running {
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
	r := &Running{t: t, Stdin: stdin, answers: json.NewDecoder(bufio.NewReader(stdout)), Finished: make(chan int, 1)}
	r.Finished <- 0
	var hello control.Greeting
	r.Read(&hello)
	r.Ports = hello.Ports
	return r
}
