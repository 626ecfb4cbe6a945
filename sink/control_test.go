package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTheSinkTellsItsPortsAndItsProcess(t *testing.T) {
	names := []string{"kieker-tcp", "otlp-http", "otlp-grpc"}
	r := start(t, "--protocols", strings.Join(names, ","), "--depth", "10", "--record-name", testSpan)
	if len(r.ports) != 3 {
		t.Errorf("ports %v", r.ports)
	}
	for _, name := range names {
		r.dial(name)
	}
	r.await("connected", func(c counts) bool { return c.OpenConnections == 3 })
	if last := r.stop(); last.Phase != "start" || len(last.Protocols) != 3 || last.CPUNs <= 0 || last.MaxRSSBytes <= 0 {
		t.Errorf("reported %+v", last)
	}
}

func TestPhasesAreCountedApart(t *testing.T) {
	r := startKieker(t)
	conn := r.dial("kieker-tcp")
	w := newKiekerWriter()
	w.call(1, 10)
	write(t, conn, w.data)
	r.await("arrived", func(c counts) bool { return c.Records == 10 })

	var warmUp report
	r.ask("phase measured", &warmUp)
	var c counts
	r.ask("counts", &c)
	if c.Records != 0 || c.Bytes != 0 || c.LastArrivalNs != 0 || c.OpenConnections != 1 {
		t.Errorf("the new phase begins with %+v", c)
	}
	before := len(w.data)
	w.call(2, 10)
	w.call(3, 9)
	write(t, conn, w.data[before:])
	r.await("arrived", func(c counts) bool { return c.Records == 19 })
	measured := r.stop()

	if warmUp.Phase != "start" || measured.Phase != "measured" {
		t.Errorf("phases %q and %q", warmUp.Phase, measured.Phase)
	}
	expectCount(t, warmUp.Protocols["kieker-tcp"], protocolCount{Records: 10, CompleteTrees: 1})
	expectCount(t, measured.Protocols["kieker-tcp"], protocolCount{Records: 19, CompleteTrees: 1, PartialTrees: 1})
}

func TestAPhaseClosesItselfAfterTheRecordsItIsTold(t *testing.T) {
	for _, held := range []int{0, 1, 7, 30} {
		t.Run(fmt.Sprint(held, " records held back"), func(t *testing.T) {
			r := startKieker(t)
			conn := r.dial("kieker-tcp")
			w := newKiekerWriter()
			for trace := range 3 {
				w.call(int64(trace+1), 10)
			}
			cut := len(w.data) - held*executionBytes
			write(t, conn, w.data[:cut])
			r.await("arrived", func(c counts) bool { return c.Records == int64(30-held) })

			var armed armedPhase
			r.ask("phase measured after 30", &armed)
			if now := map[bool]string{true: "measured", false: "start"}[held == 0]; armed.Phase != now {
				t.Errorf("armed %+v", armed)
			}
			for trace := range 2 {
				w.call(int64(trace+4), 10)
			}
			write(t, conn, w.data[cut:])
			r.await("arrived", func(c counts) bool { return c.Phase == "measured" && c.Records == 20 })
			last := r.stop()
			if last.Phase != "measured" || len(last.Earlier) != 1 || last.Earlier[0].Phase != "start" {
				t.Fatalf("reported %+v", last)
			}
			expectCount(t, last.Earlier[0].Protocols["kieker-tcp"], protocolCount{Records: 30, CompleteTrees: 3})
			expectCount(t, last.Protocols["kieker-tcp"], protocolCount{Records: 20, CompleteTrees: 2})
			sum := last.Protocols["kieker-tcp"].Bytes + last.Earlier[0].Protocols["kieker-tcp"].Bytes
			if sum != int64(len(w.data)) {
				t.Errorf("%d bytes in both phases, %d were sent", sum, len(w.data))
			}
		})
	}
}

func TestAPhaseThatNeverReachesItsRecordsIsReportedAsTheLast(t *testing.T) {
	r := startKieker(t)
	conn := r.dial("kieker-tcp")
	w := newKiekerWriter()
	w.call(1, 10)
	write(t, conn, w.data)
	r.await("arrived", func(c counts) bool { return c.Records == 10 })
	r.ask("phase measured after 11", &armedPhase{})
	if last := r.stop(); last.Phase != "start" || len(last.Earlier) != 0 || last.Protocols["kieker-tcp"].Records != 10 {
		t.Errorf("reported %+v", last)
	}
}

func TestTheListOfProtocolsNamesEveryOneThatIsSpoken(t *testing.T) {
	spoken := slices.Sorted(maps.Keys(protocols))
	if listed := protocolNames(); !slices.Equal(listed, spoken) {
		t.Errorf("protocols.txt lists %v, spoken are %v", listed, spoken)
	}
}

func TestEveryProtocolIsSpokenIfNoneIsNamed(t *testing.T) {
	r := start(t, "--depth", "10", "--record-name", testSpan)
	for name, p := range protocols {
		if _, ok := r.ports[name]; ok != (p.receiver != nil) {
			t.Errorf("%s: ports %v", name, r.ports)
		}
	}
}

func TestTheEndOfTheInputStopsTheSinkWithItsReport(t *testing.T) {
	r := startKieker(t)
	r.stdin.Close()
	var last report
	r.read(&last)
	if status := <-r.finished; status != 0 || last.Phase != "start" {
		t.Errorf("exit status %d, phase %q", status, last.Phase)
	}
}

func TestACommandCutByTheEndOfTheInputIsNotObeyed(t *testing.T) {
	answers := obeyAll(t, "phase measured\nphase oth")
	if len(answers) != 2 || !strings.Contains(answers[1], `"phase":"measured"`) {
		t.Errorf("answered %v", answers)
	}
}

func TestWrongCommandsAreAnsweredAndSurvived(t *testing.T) {
	for command, answer := range map[string]string{
		"":                          "unknown command",
		"count":                     "unknown command",
		"counts now":                "unknown command",
		"phase":                     "needs a name",
		"phase x after soon":        "positive number",
		"phase x after -1":          "positive number",
		"phase two words":           "phase NAME after N",
		"phase " + longName(200):    "at most 100 bytes",
		longName(maxCommand * 3):    "at most 4096 bytes",
		"\x00\xff\x1b":              "unknown command",
		"phase \xff\"}{\x01":        `"phase":"start"`,
		"  counts\t":                `"records":0`,
		longName(maxCommand-1) + "": "unknown command",
	} {
		answers := obeyAll(t, command+"\ncounts\n")
		if len(answers) != 3 || !strings.Contains(answers[0], answer) {
			t.Errorf("%.50q: answered %v", command, answers)
		}
	}
}

func TestACountTellsWhatTheRunnerPolls(t *testing.T) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(obeyAll(t, "counts\n")[0]), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"records", "bytes", "last_arrival_ns", "open_connections", "malformed", "cpu_ns"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("%s is missing in %v", name, fields)
		}
	}
}

func TestWrongArgumentsAreExplained(t *testing.T) {
	for arguments, reason := range map[string]string{
		"--protocols otlp-http, --depth 10 --record-name x":                         `"" is not one of`,
		"--protocols pigeon --depth 10 --record-name x":                             `"pigeon" is not one of ` + strings.Join(protocolNames(), ", "),
		"--protocols otlp-http,otlp-http --depth 10 --record-name x":                "named twice",
		"--protocols otlp-http --record-name x":                                     "--depth is 0",
		"--protocols otlp-http --depth 10":                                          "--record-name is missing",
		"--protocols otlp-http --depth 10 --record-name x --max-open-trees 0":       "--max-open-trees is 0",
		"--protocols otlp-http --depth 10 --record-name x --max-memory 5":           "--max-memory is 5",
		"--protocols otlp-http --depth 10 --record-name x further":                  `unknown argument "further"`,
		"--protocols otlp-http --depth 10 --record-name x --max-memory 1GB":         "invalid value",
		fmt.Sprintf("--protocols otlp-http --record-name x --depth %d", maxDepth+1): "--depth is 10001",
	} {
		var explained strings.Builder
		status := run(strings.Fields(arguments), strings.NewReader(""), io.Discard, &explained)
		if status != 2 || !strings.Contains(explained.String(), reason) {
			t.Errorf("%s: status %d, %s", arguments, status, explained.String())
		}
	}
}

func TestASinkThatCannotAnswerEnds(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	arguments := []string{"--protocols", "kieker-tcp", "--depth", "10", "--record-name", testMethod}
	if status := run(arguments, strings.NewReader("counts\n"), write, io.Discard); status != 1 {
		t.Errorf("exit status %d", status)
	}
}

// obeyAll gives the commands to a sink without ports and returns its answers but for the greeting.
func obeyAll(t *testing.T, commands string) []string {
	t.Helper()
	s, err := newSink(config{
		protocols: protocolNames(), depth: 10, recordName: testSpan, maxOpenTrees: 10, maxMemory: minMaxMemory,
	})
	if err != nil {
		t.Fatal(err)
	}
	var answers bytes.Buffer
	if err := control(s, nil, strings.NewReader(commands), &answers); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(answers.String()), "\n")[1:]
}

func longName(length int) string { return strings.Repeat("x", length) }
