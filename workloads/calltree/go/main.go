// Package calltree is the call tree workload: it makes calls as its standard input commands, and leaves samples and
// trial.json. A program with an agent passes its own traced method to Main.
package calltree

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
)

// Main runs until standard input ends, and returns the exit code: what an agent has to do at the end comes after it.
func Main(monitored Monitored) int {
	beginNs := monotonicNs()
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "calltree:", err)
		return 1
	}
	status, err := openStatus(o.status)
	if err != nil {
		fmt.Fprintln(os.Stderr, "calltree:", err)
		return 1
	}
	defer status.file.Close()
	status.event("main", beginNs, "")
	if err := run(o, monitored, status); err != nil {
		status.event("error", monotonicNs(), err.Error())
		fmt.Fprintln(os.Stderr, "calltree:", err)
		return 1
	}
	return 0
}

func run(o *options, monitored Monitored, status *statusLog) error {
	begin := takeSnapshot()
	stop := &atomic.Bool{}
	trial := newTrial(o, monitored, status, stop, begin)
	for line := range commands(stop) {
		if err := trial.obey(line); err != nil {
			return err
		}
	}
	return nil
}

// commands reads lines of standard input in a goroutine, so that the end of the input is seen at once.
func commands(stop *atomic.Bool) <-chan string {
	lines := make(chan string, 1<<16)
	go func() {
		input := bufio.NewScanner(os.Stdin)
		for input.Scan() {
			if line := strings.TrimSpace(input.Text()); line != "" {
				lines <- line
			}
		}
		stop.Store(true)
		close(lines)
	}()
	return lines
}

var burst = regexp.MustCompile(`^warm-up +([1-9][0-9]{0,17})$`)

// obey does what one command says.
func (t *trial) obey(line string) error {
	if words := burst.FindStringSubmatch(line); words != nil {
		calls, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil {
			return err
		}
		return t.warmUp(calls)
	}
	switch line {
	case "measure":
		return t.measure()
	case "drained":
		return t.drained()
	}
	return fmt.Errorf("command '%s': not one of 'warm-up N', 'measure', 'drained'", line)
}

// statusLog takes events for the runner, one line each: name, monotonic_ns, text.
type statusLog struct{ file *os.File }

func openStatus(path string) (*statusLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	return &statusLog{file}, err
}

// event appends an event in one write; line breaks in the text become spaces.
func (s *statusLog) event(name string, atNs int64, text string) {
	words := append([]string{name, strconv.FormatInt(atNs, 10)}, strings.Fields(text)...)
	if _, err := s.file.WriteString(strings.Join(words, " ") + "\n"); err != nil {
		panic(err)
	}
}

// callFailed is the error that a call which panics becomes; its stack goes to standard error.
func callFailed(reason any) error {
	fmt.Fprintf(os.Stderr, "%v\n%s", reason, debug.Stack())
	return fmt.Errorf("a caller failed: %v", reason)
}
