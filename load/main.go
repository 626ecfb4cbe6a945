// Command load sends HTTP requests to a service on this machine at intended moments, and keeps how long each took from
// then on. It obeys commands on standard input and ends with it. See README.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"tracetax/load/internal/clock"
	"tracetax/load/internal/monitor"
)

// gcPercent trades memory, of which the load needs little, for CPU, which it takes from the program under test.
const gcPercent = 400

func main() {
	monitor.Calm(1) // a second worker would run on the service's core, and wake later: README.md has the figures
	debug.SetGCPercent(gcPercent)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stderr))
}

// run obeys commands until standard input ends, and returns the exit status: 1 after an error, which stands in the
// status file and on standard error.
func run(arguments []string, stdin io.Reader, stderr io.Writer) int {
	beganNs := clock.NowNs()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	o, err := parse(arguments)
	var status *statusLog
	if o.status != "" {
		var opening error
		status, opening = openStatus(o.status)
		err = errors.Join(err, opening)
	}
	if status != nil {
		defer status.file.Close()
		status.event("main", beganNs, "")
	}
	if err == nil {
		err = conduct(ctx, stop, o, status, stdin)
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return 0 // standard input has ended, whatever was being done
	}
	if status != nil {
		status.event("error", clock.NowNs(), err.Error())
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "load: %s\n", strings.TrimSuffix(line, "\n"))
	}
	return 1
}

// conduct prepares the trial, waits for the service, and obeys.
func conduct(ctx context.Context, stop func(), o *options, status *statusLog, stdin io.Reader) error {
	mix, err := readMix(o.requests)
	if err != nil {
		return err
	}
	if o.tool != nil && len(mix) != 1 {
		return fmt.Errorf("--tool sends to one endpoint, and --requests has %d", len(mix))
	}
	t, err := newTrial(o, mix, status)
	if err != nil {
		return err
	}
	defer t.load.timer.Close()
	context.AfterFunc(ctx, t.load.timer.Interrupt)
	lines := commands(stdin, stop)
	if err := t.awaitReady(ctx); err != nil {
		return err
	}
	for line := range lines {
		if err := t.obey(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

// commands reads lines of standard input in a goroutine, so that the end of the input is seen at once.
func commands(stdin io.Reader, stop func()) <-chan string {
	lines := make(chan string, 1<<16)
	go func() {
		input := bufio.NewScanner(stdin)
		for input.Scan() {
			if line := strings.TrimSpace(input.Text()); line != "" {
				lines <- line
			}
		}
		stop()
		close(lines)
	}()
	return lines
}

var (
	burst    = regexp.MustCompile(`^warm-up +([1-9][0-9]{0,8})$`)
	oneByOne = regexp.MustCompile(`^one-by-one +([1-9][0-9]{0,5}) +(.+)$`)
)

// obey does what one command says.
func (t *trial) obey(ctx context.Context, line string) error {
	if words := burst.FindStringSubmatch(line); words != nil {
		calls, err := strconv.Atoi(words[1])
		if err != nil || calls > mostCalls {
			return fmt.Errorf("command '%s': a burst has 1 to %d requests", line, mostCalls)
		}
		return t.warmUp(ctx, calls)
	}
	if words := oneByOne.FindStringSubmatch(line); words != nil {
		calls, _ := strconv.Atoi(words[1])
		return t.oneByOne(ctx, calls, words[2])
	}
	switch line {
	case "measure":
		return t.measure(ctx)
	case "drained":
		return t.drained()
	}
	return fmt.Errorf("command '%s': not one of 'warm-up N', 'one-by-one N NAME', 'measure', 'drained'", line)
}

// statusLog takes events for the runner, one line each: name, monotonic_ns, text.
type statusLog struct{ file *os.File }

func openStatus(path string) (*statusLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fmt.Errorf("--status: %w", err)
	}
	return &statusLog{file}, nil
}

// event appends an event in one write; line breaks in the text become spaces.
func (s *statusLog) event(name string, atNs int64, text string) {
	words := append([]string{name, strconv.FormatInt(atNs, 10)}, strings.Fields(text)...)
	if _, err := s.file.WriteString(strings.Join(words, " ") + "\n"); err != nil {
		panic(err)
	}
}
