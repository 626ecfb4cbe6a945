package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tracetax/load/internal/clock"
)

// limit is how long a test waits for what must come.
const limit = 30 * time.Second

// TestMain lets a test start this program as the load, in a process that signals can end.
func TestMain(m *testing.M) {
	if os.Getenv("LOAD_ITSELF") != "" {
		main()
	}
	os.Exit(m.Run())
}

// service is a server for tests. It is ready at once, at /ready.
func service(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ready" {
			handler(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

// driver is a load that runs, as Tracetax's runner sees it.
type driver struct {
	t           *testing.T
	stdin       io.WriteCloser
	out, status string
	errors      *bytes.Buffer // to be read when it has ended
	ended       chan int
}

// command is the command line for a service with one endpoint a line of mix, or /work alone.
func command(t *testing.T, url, mix string, options ...string) []string {
	t.Helper()
	folder := t.TempDir()
	requests := filepath.Join(folder, "requests.jsonl")
	if mix == "" {
		mix = `{"name": "work", "path": "/work"}`
	}
	if err := os.WriteFile(requests, []byte(mix), 0o666); err != nil {
		t.Fatal(err)
	}
	return append([]string{"--url", url, "--requests", requests, "--ready", "/ready",
		"--out", filepath.Join(folder, "out"), "--status", filepath.Join(folder, "status")}, options...)
}

// start runs the load in this process.
func start(t *testing.T, url, mix string, options ...string) *driver {
	t.Helper()
	arguments := command(t, url, mix, options...)
	read, write := io.Pipe()
	d := &driver{t: t, stdin: write, errors: &bytes.Buffer{}, ended: make(chan int, 1)}
	d.out, d.status = arguments[7], arguments[9]
	go func() { d.ended <- run(arguments, read, d.errors) }()
	t.Cleanup(func() { write.Close() })
	return d
}

// measured is a whole trial to its ordinary end, without warm-up.
func measured(t *testing.T, url, mix string, options ...string) *driver {
	t.Helper()
	d := start(t, url, mix, options...)
	d.say("measure", "drained")
	d.await("written", 1)
	if status := d.end(); status != 0 {
		t.Fatalf("ended with %d: %s", status, d.errors)
	}
	return d
}

func (d *driver) say(commands ...string) {
	d.t.Helper()
	for _, command := range commands {
		if _, err := io.WriteString(d.stdin, command+"\n"); err != nil {
			d.t.Fatal(err)
		}
	}
}

// end closes the input and gives the exit status.
func (d *driver) end() int {
	d.t.Helper()
	d.stdin.Close()
	return d.wait()
}

func (d *driver) wait() int {
	d.t.Helper()
	select {
	case status := <-d.ended:
		return status
	case <-time.After(limit):
		d.t.Fatal("does not end")
		return 0
	}
}

// lines are those of the status file, each cut into name, time and text.
func (d *driver) lines() (lines [][]string) {
	content, _ := os.ReadFile(d.status)
	for line := range strings.Lines(string(content)) {
		if strings.HasSuffix(line, "\n") {
			lines = append(lines, append(strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3), "")[:3])
		}
	}
	return lines
}

// texts are those of all lines with a name.
func (d *driver) texts(name string) (texts []string) {
	for _, line := range d.lines() {
		if line[0] == name {
			texts = append(texts, line[2])
		}
	}
	return texts
}

// await waits for the so-many-th line with a name, and gives its text.
func (d *driver) await(name string, count int) string {
	d.t.Helper()
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(time.Millisecond) {
		if texts := d.texts(name); len(texts) >= count {
			return texts[count-1]
		}
	}
	d.t.Fatalf("no %s in %v", name, d.lines())
	return ""
}

// document is what tests read of trial.json.
type document struct {
	Format, Threads, Calls, Invocations int
	Workload                            string
	Files                               map[string][]string
	WarmUp                              map[string]any `json:"warm_up"`
	Clock                               map[string]float64
	Snapshots                           map[string]map[string]float64
	Caller                              []map[string]float64
	Versions                            map[string]string
	Load                                struct {
		URL, Arrivals, Seed string
		Rate                any
		Opened              int     `json:"connections_opened"`
		CoreShare           float64 `json:"core_share"`
		RateByTool          float64 `json:"rate_by_tool"`
		Ready               readiness
		Starts              *starts
		Endpoints           []tally
	}
}

func (d *driver) trial() (found document) {
	d.t.Helper()
	if err := json.Unmarshal(d.content("trial.json"), &found); err != nil {
		d.t.Fatal(err)
	}
	return found
}

func (d *driver) content(name string) []byte {
	d.t.Helper()
	content, err := os.ReadFile(filepath.Join(d.out, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return content
}

// values are those of a file of 64-bit integers.
func (d *driver) values(kind string) []int64 {
	d.t.Helper()
	content := d.content(kind + "-0.i64")
	values := make([]int64, len(content)/8)
	if _, err := binary.Decode(content, binary.LittleEndian, values); err != nil || len(content)%8 != 0 {
		d.t.Fatalf("%s: %d bytes, %v", kind, len(content), err)
	}
	return values
}

func TestTheStatusTellsTheCourseOfTheTrial(t *testing.T) {
	beforeNs := clock.NowNs()
	d := start(t, service(t, hello).URL, "", "--calls", "20")
	d.say("warm-up 10", "measure", "drained")
	d.await("written", 1)
	if status := d.end(); status != 0 {
		t.Fatal(status)
	}
	var names []string
	previous := beforeNs
	for _, line := range d.lines() {
		names = append(names, line[0])
		at, err := strconv.ParseInt(line[1], 10, 64)
		if err != nil || at < previous {
			t.Errorf("%v comes after %d", line, previous)
		}
		previous = at
	}
	want := []string{"main", "ready", "first-monitored", "warmed", "first-call", "last-call", "drained", "written"}
	if !slices.Equal(names, want) || previous > clock.NowNs() {
		t.Errorf("stages %v", names)
	}
	if text := d.texts("ready")[0]; text != "requests=1" {
		t.Errorf("ready %s", text)
	}
	if text := d.texts("warmed")[0]; text != "calls=10 driver=4 method=4 how=calls failed=0" {
		t.Errorf("warmed %s", text)
	}
	if text := d.texts("written")[0]; !strings.HasPrefix(text, "requests=20 right=20 wrong=0 timed_out=0 refused=0 broken=0 unsent=0 core_share=") {
		t.Errorf("written %s", text)
	}
}

func TestBurstsAreCountedTogetherAndToldOneByOne(t *testing.T) {
	d := start(t, service(t, hello).URL, `{"path": "/work", "length": 6}`, "--calls", "1")
	d.say("warm-up 1", "warm-up 40", "warm-up 3")
	d.await("warmed", 3)
	for i, count := range []int{1, 41, 44} {
		want := fmt.Sprintf("calls=%d driver=4 method=4 how=calls failed=%d because /work: 5 bytes where 6 are expected: \"hello\"", count, count)
		if text := d.texts("warmed")[i]; text != want {
			t.Errorf("%q, wanted %q", text, want)
		}
	}
	if told := len(d.texts("first-monitored")); told != 1 {
		t.Errorf("first-monitored told %d times", told)
	}
}

func TestABurstThatTimesOutSaysThatFewerConnectionsMayHelp(t *testing.T) {
	const advice = " on one of 8 connections. Where the service answers fewer at a time, say so: --connections 4"
	for _, one := range []struct {
		connections, advice string
		answered            int32 // of the requests, the first ones
	}{
		{"8", advice, 1},
		{"8", "", 0}, // one that is sent by itself waits for no other
		{"4", "", 1},
	} {
		var requests atomic.Int32
		d := start(t, service(t, func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1) > one.answered {
				<-r.Context().Done()
			}
		}).URL, "", "--calls", "1", "--connections", one.connections, "--time-out", "30ms")
		d.say("warm-up 10")
		want := fmt.Sprintf("calls=10 driver=4 method=4 how=calls failed=%d because work: no whole answer within 30ms%s",
			10-one.answered, one.advice)
		if text := d.await("warmed", 1); text != want {
			t.Errorf("%q, wanted %q", text, want)
		}
	}
}

func TestRequestsToOneEndpointAreSentOneByOne(t *testing.T) {
	var under, most atomic.Int64
	paths := make(chan string, 100)
	server := service(t, func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), under.Add(1)))
		time.Sleep(2 * time.Millisecond)
		under.Add(-1)
		paths <- r.URL.Path
	})
	mix := "{\"name\": \"a\", \"path\": \"/a\"}\n{\"name\": \"b\", \"path\": \"/b\"}"
	d := start(t, server.URL, mix, "--calls", "10")
	d.say("one-by-one 20 b")
	if text := d.await("warmed", 1); !strings.HasPrefix(text, "calls=20 ") || !strings.HasSuffix(text, " failed=0") {
		t.Error(text)
	}
	for range 20 {
		if path := <-paths; path != "/b" {
			t.Errorf("sent to %s", path)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d at once", most.Load())
	}
	d.say("one-by-one 1 c")
	if status := d.wait(); status != 1 || !strings.Contains(d.errors.String(), `there is no endpoint "c"`) {
		t.Errorf("ended with %d: %s", status, d.errors)
	}
}

func TestTheTrialCanBeReadByWhoeverReadsDrivers(t *testing.T) {
	d := measured(t, service(t, hello).URL, "", "--calls", "200", "--rate", "2000")
	trial := d.trial()
	if trial.Format != 1 || trial.Threads != 1 || trial.Calls != 200 || trial.Invocations != 200 || trial.Workload != "load" {
		t.Errorf("%+v", trial)
	}
	for kind, names := range map[string][]string{
		"samples": {"samples-0.i64"}, "start": {"start-0.i64"}, "late": {"late-0.i64"},
		"endpoint": {"endpoint-0.u8"}, "outcome": {"outcome-0.u8"},
	} {
		if !slices.Equal(trial.Files[kind], names) {
			t.Errorf("files of %s: %v", kind, trial.Files[kind])
		}
	}
	previous := map[string]float64{}
	for _, name := range []string{"main", "first_call", "last_call", "drained", "collected"} {
		for _, counter := range []string{"monotonic_ns", "process_cpu_ns"} {
			if now := trial.Snapshots[name][counter]; now < previous[counter] || now == 0 {
				t.Errorf("%s of %s: %v after %v", counter, name, now, previous[counter])
			} else {
				previous[counter] = now
			}
		}
	}
	caller := trial.Caller[0]
	if caller["calls"] != 200 || caller["cpu_ns"] <= 0 || caller["last_ns"]-caller["first_ns"] < 199*500_000 {
		t.Errorf("caller %v", caller)
	}
	if share := caller["cpu_ns"] / (caller["last_ns"] - caller["first_ns"]); trial.Load.CoreShare != share {
		t.Errorf("share of a core %g, is %g", trial.Load.CoreShare, share)
	}
	if trial.Clock["resolution_ns"] < 1 || trial.Clock["read_ns"] <= 0 || trial.Versions["go.version"] == "" {
		t.Errorf("clock %v, versions %v", trial.Clock, trial.Versions)
	}
}

func TestARateIsAScheduleOfIntendedStartsAndNothingIsSentBefore(t *testing.T) {
	d := measured(t, service(t, hello).URL, "", "--calls", "100", "--rate", "2000")
	for k, at := range d.values("start") {
		if at != int64(k)*500_000 {
			t.Errorf("start %d at %d", k, at)
		}
	}
	if late := d.values("late"); len(late) != 100 || slices.Min(late) < 0 {
		t.Errorf("late %v", late)
	}
	if samples := d.values("samples"); len(samples) != 100 || slices.Min(samples) <= 0 {
		t.Errorf("samples %v", samples)
	}
}

func TestBackToBackThereIsNoSchedule(t *testing.T) {
	d := measured(t, service(t, hello).URL, "", "--calls", "300", "--connections", "3")
	trial := d.trial()
	if len(d.values("samples")) != 300 || len(trial.Files["start"])+len(trial.Files["late"]) != 0 || trial.Load.Starts != nil {
		t.Errorf("files %v", trial.Files)
	}
	if trial.Load.Rate != "full" || trial.Load.Arrivals != "back-to-back" {
		t.Errorf("rate %v, arrivals %s", trial.Load.Rate, trial.Load.Arrivals)
	}
	if trial.Load.Endpoints[0].Outcomes["right"] != 300 || trial.Load.Endpoints[0].Response != nil {
		t.Errorf("%+v", trial.Load.Endpoints)
	}
}

func TestTheEndOfTheInputEndsItWithoutResults(t *testing.T) {
	for _, stage := range []string{"main", "ready", "warmed", "last-call"} {
		d := start(t, service(t, hello).URL, "", "--calls", "50")
		switch stage {
		case "ready":
			d.await(stage, 1)
		case "warmed":
			d.say("warm-up 10")
			d.await(stage, 1)
		case "last-call":
			d.say("measure")
			d.await(stage, 1)
		}
		if status := d.end(); status != 0 || len(d.texts("error")) != 0 {
			t.Errorf("%s: %d, %v", stage, status, d.lines())
		}
		if _, err := os.Stat(d.out); err == nil {
			t.Errorf("%s: something was written", stage)
		}
	}
}

func TestTheEndOfTheInputStopsTheMeasuredRequests(t *testing.T) {
	for _, rate := range []string{"full", "20"} {
		slow := func(http.ResponseWriter, *http.Request) { time.Sleep(50 * time.Millisecond) }
		d := start(t, service(t, slow).URL, "", "--calls", "1000000", "--rate", rate)
		d.say("measure")
		d.await("first-call", 1)
		if status := d.end(); status != 0 || len(d.texts("last-call")) != 0 || len(d.texts("error")) != 0 {
			t.Errorf("%s: %d, %v", rate, status, d.lines())
		}
		if _, err := os.Stat(d.out); err == nil {
			t.Errorf("%s: something was written", rate)
		}
	}
}

func TestCtrlCEndsIt(t *testing.T) {
	arguments := command(t, service(t, hello).URL, "", "--calls", "1000000", "--rate", "100")
	load := exec.Command(os.Args[0], arguments...)
	load.Env = append(os.Environ(), "LOAD_ITSELF=1")
	stdin, err := load.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { load.Process.Kill() })
	d := &driver{t: t, status: arguments[9]}
	io.WriteString(stdin, "measure\n")
	d.await("first-call", 1)
	if err := load.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- load.Wait() }()
	select {
	case <-ended:
	case <-time.After(limit):
		t.Fatal("does not end")
	}
	if how := load.ProcessState.Sys().(syscall.WaitStatus); !how.Signaled() || how.Signal() != syscall.SIGINT {
		t.Errorf("ended as %s", load.ProcessState)
	}
	if _, err := os.Stat(arguments[7]); err == nil {
		t.Error("something was written")
	}
}

func TestACommandThatIsNoneOrOutOfTurnIsAnError(t *testing.T) {
	for _, commands := range []string{"mesure", "warm-up", "warm-up 0", "warm-up -1", "warm-up 1 2", "warm-up 999999999", "drained", "measure\nmeasure"} {
		d := start(t, service(t, hello).URL, "", "--calls", "5")
		d.say(commands)
		if status := d.wait(); status != 1 {
			t.Errorf("%q: ended with %d", commands, status)
		}
		last := commands[strings.LastIndex(commands, "\n")+1:]
		if said := d.texts("error"); len(said) != 1 || !strings.Contains(said[0], last) || !strings.Contains(d.errors.String(), last) {
			t.Errorf("%q: %v", commands, said)
		}
		if _, err := os.Stat(d.out); err == nil {
			t.Errorf("%q: something was written", commands)
		}
	}
}

func TestEveryWrongOptionIsNamedAtOnce(t *testing.T) {
	arguments := command(t, "http://127.0.0.1:1", "", "--calls", "0", "--rate", "fast", "--arrivals", "often", "--connections", "0",
		"--time-out", "0s", "--latest", "2h", "--on-time", "-1s", "further")
	var said bytes.Buffer
	if status := run(arguments[2:], strings.NewReader(""), &said); status != 1 {
		t.Errorf("ended with %d", status)
	}
	for _, reason := range []string{"--url is missing", "--calls 0", "--rate fast", "--arrivals often", "--connections 0",
		"--time-out 0s", "--latest 2h", "--on-time -1s", `"further"`} {
		if !strings.Contains(said.String(), reason) {
			t.Errorf("nothing about %s in:\n%s", reason, &said)
		}
	}
	for line := range strings.Lines(said.String()) {
		if !strings.HasPrefix(line, "load: ") {
			t.Errorf("says %q", line)
		}
	}
	if d := (&driver{status: arguments[9]}); len(d.texts("error")) != 1 {
		t.Errorf("the status file has %v", d.lines())
	}
}

func TestAnOptionThatIsUnknownOrHasNoNumberIsNamed(t *testing.T) {
	for _, options := range []string{"--cals 5", "--calls 1e3", "--time-out 5", "--seed -1", "--calls"} {
		var said bytes.Buffer
		status := run(strings.Fields(options), strings.NewReader(""), &said)
		if name := strings.TrimLeft(strings.Fields(options)[0], "-"); status != 1 || !strings.Contains(said.String(), name) {
			t.Errorf("%s: %d, %s", options, status, &said)
		}
	}
}
