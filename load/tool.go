package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tracetax/load/internal/clock"
)

// tool is a load generator of the user's, which sends the measured requests in this program's place. It leaves a file
// with a line for each request, and the times are those that it tells.
type tool struct {
	words       []string
	environment []string
	file        string
	read        func(io.Reader) (told, error)
}

// told is what a tool's file says.
type told struct {
	requests []request
	unsent   int // what it says that it had no means to send
}

// rate is how many requests per second were begun; 0 of one alone.
func (t told) rate() float64 {
	last := len(t.requests) - 1
	if lasted := t.requests[last].startNs - t.requests[0].startNs; lasted > 0 {
		return float64(last) / (float64(lasted) / 1e9)
	}
	return 0
}

// request is one that a tool has sent.
type request struct {
	startNs, serviceNs int64  // the start counts from any moment that is the same for all
	status             uint16 // 0 where nothing was answered
	broken             bool   // as the tool sees it
	url                string // empty where it does not tell
}

const (
	thresholdsCrossed = 99 // k6's exit status where an objective of its script does not hold: it has sent everything
	toolName          = "requests-of-tool.csv"
)

// newTool reads the words of a command, a JSON array, and adds what has it write its requests into folder.
func newTool(text, folder string) (*tool, error) {
	var words []string
	if err := json.Unmarshal([]byte(text), &words); err != nil || len(words) == 0 {
		return nil, fmt.Errorf("--tool %s: not a JSON array of words", text)
	}
	file := filepath.Join(folder, toolName)
	switch name := filepath.Base(words[0]); name {
	case "k6":
		return &tool{
			words:       append(words, "--out", "csv="+file),
			environment: []string{"K6_CSV_TIME_FORMAT=unix_nano", "K6_NO_USAGE_REPORT=true"},
			file:        file,
			read:        readK6,
		}, nil
	case "oha":
		return &tool{words: append(words, "--no-tui", "--output-format", "csv", "--output", file), file: file, read: readOha}, nil
	default:
		return nil, fmt.Errorf("--tool: requests of %q cannot be read, those of k6 and oha can", name)
	}
}

// run starts the tool and waits for its end. It dies with this program. What it used of the CPU is returned.
func (c *tool) run(ctx context.Context) (cpuNs int64, err error) {
	runtime.LockOSThread() // the kernel sends Pdeathsig when the thread has ended that started the child
	defer runtime.UnlockOSThread()
	if err := os.MkdirAll(filepath.Dir(c.file), 0o777); err != nil {
		return 0, err
	}
	command := exec.CommandContext(ctx, c.words[0], c.words[1:]...)
	command.Env = append(os.Environ(), c.environment...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = command.Run()
	if state := command.ProcessState; state != nil {
		cpuNs = int64(state.UserTime() + state.SystemTime())
		if state.ExitCode() == thresholdsCrossed {
			err = nil
		}
	}
	if ctx.Err() != nil {
		return cpuNs, ctx.Err()
	}
	if err != nil {
		return cpuNs, fmt.Errorf("%s: %w", c.words[0], err)
	}
	return cpuNs, nil
}

// requests are those that it has sent, in the order of their starts.
func (c *tool) requests() (told, error) {
	file, err := os.Open(c.file)
	if err != nil {
		return told{}, fmt.Errorf("%s has left no account of its requests: %w", c.words[0], err)
	}
	defer file.Close()
	found, err := c.read(bufio.NewReader(file))
	if err != nil {
		return told{}, fmt.Errorf("%s: what it tells of its requests cannot be read: %w", c.words[0], err)
	}
	if len(found.requests) == 0 {
		return told{}, fmt.Errorf("%s has sent no request that was answered", c.words[0])
	}
	slices.SortStableFunc(found.requests, func(a, b request) int { return cmp.Compare(a.startNs, b.startNs) })
	return found, os.Remove(c.file)
}

// rows calls each with every line of a file of comma-separated values, by the names of its columns; all must be there.
func rows(from io.Reader, columns []string, each func(values []string) error) error {
	lines := csv.NewReader(from)
	lines.ReuseRecord = true
	lines.FieldsPerRecord = -1
	header, err := lines.Read()
	if err != nil {
		return err
	}
	places := make([]int, len(columns))
	for i, column := range columns {
		if places[i] = slices.Index(header, column); places[i] < 0 {
			return fmt.Errorf("there is no column %q", column)
		}
	}
	furthest := slices.Max(places)
	values := make([]string, len(columns))
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(line) <= furthest {
			return fmt.Errorf("a line has %d columns", len(line))
		}
		for i, place := range places {
			values[i] = line[place]
		}
		if err := each(values); err != nil {
			return err
		}
	}
}

// readK6 reads k6's CSV with times in ns: a line for each value of each metric.
func readK6(from io.Reader) (told, error) {
	var found told
	columns := []string{"metric_name", "timestamp", "metric_value", "status", "error_code", "url"}
	err := rows(from, columns, func(values []string) error {
		switch values[0] {
		case "http_req_duration":
			ended, whenErr := strconv.ParseInt(values[1], 10, 64)
			duration, err := nanoseconds(values[2], time.Millisecond)
			status, statusErr := strconv.ParseUint(cmp.Or(values[3], "0"), 10, 16)
			if err := errors.Join(whenErr, err, statusErr); err != nil {
				return err
			}
			found.requests = append(found.requests, request{
				startNs: ended - duration, serviceNs: duration, status: uint16(status),
				broken: status == 0, url: strings.Clone(values[5]),
			})
		case "dropped_iterations":
			count, err := strconv.ParseFloat(values[2], 64)
			if err != nil {
				return err
			}
			found.unsent += int(count)
		}
		return nil
	})
	return found, err
}

// readOha reads oha's CSV: a line for each request that was answered, in seconds since its start.
func readOha(from io.Reader) (told, error) {
	var found told
	err := rows(from, []string{"request-start", "request-duration", "status"}, func(values []string) error {
		start, startErr := nanoseconds(values[0], time.Second)
		duration, err := nanoseconds(values[1], time.Second)
		status, statusErr := strconv.ParseUint(values[2], 10, 16)
		found.requests = append(found.requests, request{startNs: start, serviceNs: duration, status: uint16(status)})
		return errors.Join(startErr, err, statusErr)
	})
	return found, err
}

func nanoseconds(text string, unit time.Duration) (int64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err == nil && !(value >= 0 && value < float64(longest)/float64(unit)) {
		err = fmt.Errorf("%s is no duration", text)
	}
	return int64(value * float64(unit)), err
}

// measureByTool has the user's tool send the measured requests, and takes over what it tells of them.
func (t *trial) measureByTool(ctx context.Context) error {
	first := takeSnapshot()
	t.status.event("first-call", first.MonotonicNs, "")
	cpuNs, err := t.o.tool.run(ctx)
	last := takeSnapshot()
	if err != nil {
		return err
	}
	found, err := t.o.tool.requests()
	if err != nil {
		return err
	}
	if err := t.take(found); err != nil {
		return err
	}
	t.snapshots["first_call"], t.snapshots["last_call"] = first, last
	t.toolCPUNs, t.unsentByTool, t.rateByTool, t.measured = cpuNs, found.unsent, found.rate(), true
	t.status.event("last-call", clock.NowNs(), fmt.Sprintf("calls=%d", t.o.calls))
	return nil
}

// take makes what a tool tells the results of this trial. All requests must go to the one endpoint of the mix.
func (t *trial) take(found told) error {
	t.o.calls = len(found.requests)
	t.plan = plan{endpoints: make([]uint8, t.o.calls)}
	if t.o.paced() {
		t.plan.starts = make([]int64, t.o.calls)
	}
	t.results = newResults(t.plan, false)
	clear(t.results.lateNs) // a tool tells how long a request took by its own reckoning; when it was due, it keeps to itself
	expected := &t.mix[0]
	for k, sent := range found.requests {
		if sent.url != "" && !leadsTo(sent.url, t.o.address, expected.Path) {
			return fmt.Errorf("%s has requested %s, and --url says http://%s%s: of that alone it is known what records "+
				"a request makes", t.o.tool.words[0], sent.url, t.o.address, expected.Path)
		}
		if t.o.paced() {
			t.plan.starts[k] = sent.startNs - found.requests[0].startNs
		}
		t.results.serviceNs[k], t.results.statuses[k], t.results.outcomes[k] = sent.serviceNs, sent.status, right
		switch {
		case sent.broken:
			t.results.outcomes[k] = broken
			t.failures.tell(0, broken, "nothing was answered")
		case int(sent.status) != expected.Status:
			t.results.outcomes[k] = wrong
			t.failures.tell(0, wrong, fmt.Sprintf("status %d instead of %d", sent.status, expected.Status))
		}
	}
	return nil
}

// leadsTo says whether a tool's address is that of the service, on this machine, and of the path.
func leadsTo(text, address, path string) bool {
	found, err := url.Parse(text)
	if err != nil {
		return false
	}
	host, port := found.Hostname(), found.Port()
	_, expected, _ := strings.Cut(address, ":")
	here := host == "127.0.0.1" || host == "localhost"
	return here && cmp.Or(port, "80") == expected && cmp.Or(found.RequestURI(), "/") == path
}
