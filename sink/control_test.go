package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/control"
	"tracetax/sink/internal/receiver"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

func TestTheSinkTellsItsPortsAndItsProcess(t *testing.T) {
	names := []string{"kieker-tcp", "otlp-http", "otlp-grpc"}
	r := sinktest.Start(t, receiver.Table, "--protocols", strings.Join(names, ","), "--depth", "10", "--record-name", samples.SpanName)
	if len(r.Ports) != 3 {
		t.Errorf("ports %v", r.Ports)
	}
	for _, name := range names {
		r.Dial(name)
	}
	r.Await("connected", func(c sink.Counts) bool { return c.OpenConnections == 3 })
	if last := r.Stop(); last.Phase != "start" || len(last.Protocols) != 3 || last.CPUNs <= 0 || last.MaxRSSBytes <= 0 {
		t.Errorf("reported %+v", last)
	}
}

func TestPhasesAreCountedApart(t *testing.T) {
	r := startWithKieker(t)
	conn := r.Dial("kieker-tcp")
	w := samples.NewKiekerWriter()
	w.Call(1, 10)
	sinktest.Write(t, conn, w.Data)
	r.Await("arrived", func(c sink.Counts) bool { return c.Records == 10 })

	var warmUp sink.Report
	r.Ask("phase measured", &warmUp)
	var c sink.Counts
	r.Ask("counts", &c)
	if c.Records != 0 || c.Bytes != 0 || c.LastArrivalNs != 0 || c.OpenConnections != 1 {
		t.Errorf("the new phase begins with %+v", c)
	}
	before := len(w.Data)
	w.Call(2, 10)
	w.Call(3, 9)
	sinktest.Write(t, conn, w.Data[before:])
	r.Await("arrived", func(c sink.Counts) bool { return c.Records == 19 })
	measured := r.Stop()

	if warmUp.Phase != "start" || measured.Phase != "measured" {
		t.Errorf("phases %q and %q", warmUp.Phase, measured.Phase)
	}
	samples.ExpectCount(t, warmUp.Protocols["kieker-tcp"], account.Account{Records: 10, CompleteTrees: 1})
	samples.ExpectCount(t, measured.Protocols["kieker-tcp"], account.Account{Records: 19, CompleteTrees: 1, PartialTrees: 1})
}

// executionLength is the size of a record in Kieker's stream.
const executionLength = 56

func TestAPhaseClosesItselfAfterTheRecordsItIsTold(t *testing.T) {
	for _, held := range []int{0, 1, 7, 30} {
		t.Run(fmt.Sprint(held, " records held back"), func(t *testing.T) {
			r := startWithKieker(t)
			conn := r.Dial("kieker-tcp")
			w := samples.NewKiekerWriter()
			for trace := range 3 {
				w.Call(int64(trace+1), 10)
			}
			cut := len(w.Data) - held*executionLength
			sinktest.Write(t, conn, w.Data[:cut])
			r.Await("arrived", func(c sink.Counts) bool { return c.Records == int64(30-held) })

			var armed sink.ArmedPhase
			r.Ask("phase measured after 30", &armed)
			if now := map[bool]string{true: "measured", false: "start"}[held == 0]; armed.Phase != now {
				t.Errorf("armed %+v", armed)
			}
			for trace := range 2 {
				w.Call(int64(trace+4), 10)
			}
			sinktest.Write(t, conn, w.Data[cut:])
			r.Await("arrived", func(c sink.Counts) bool { return c.Phase == "measured" && c.Records == 20 })
			last := r.Stop()
			if last.Phase != "measured" || len(last.Earlier) != 1 || last.Earlier[0].Phase != "start" {
				t.Fatalf("reported %+v", last)
			}
			samples.ExpectCount(t, last.Earlier[0].Protocols["kieker-tcp"], account.Account{Records: 30, CompleteTrees: 3})
			samples.ExpectCount(t, last.Protocols["kieker-tcp"], account.Account{Records: 20, CompleteTrees: 2})
			sum := last.Protocols["kieker-tcp"].Bytes + last.Earlier[0].Protocols["kieker-tcp"].Bytes
			if sum != int64(len(w.Data)) {
				t.Errorf("%d bytes in both phases, %d were sent", sum, len(w.Data))
			}
		})
	}
}

func TestAPhaseThatNeverReachesItsRecordsIsReportedAsTheLast(t *testing.T) {
	r := startWithKieker(t)
	conn := r.Dial("kieker-tcp")
	w := samples.NewKiekerWriter()
	w.Call(1, 10)
	sinktest.Write(t, conn, w.Data)
	r.Await("arrived", func(c sink.Counts) bool { return c.Records == 10 })
	r.Ask("phase measured after 11", &sink.ArmedPhase{})
	if last := r.Stop(); last.Phase != "start" || len(last.Earlier) != 0 || last.Protocols["kieker-tcp"].Records != 10 {
		t.Errorf("reported %+v", last)
	}
}

func TestEveryProtocolIsSpokenIfNoneIsNamed(t *testing.T) {
	r := sinktest.Start(t, receiver.Table, "--depth", "10", "--record-name", samples.SpanName)
	for name, p := range receiver.Table {
		if _, ok := r.Ports[name]; ok != (p.Receiver != nil) {
			t.Errorf("%s: ports %v", name, r.Ports)
		}
	}
}

func TestTheEndOfTheInputStopsTheSinkWithItsReport(t *testing.T) {
	r := startWithKieker(t)
	r.Stdin.Close()
	var last sink.Report
	r.Read(&last)
	if status := <-r.Finished; status != 0 || last.Phase != "start" {
		t.Errorf("exit status %d, phase %q", status, last.Phase)
	}
}

func TestACommandCutByTheEndOfTheInputIsNotObeyed(t *testing.T) {
	answers := sinktest.Obey(t, receiver.Table, "phase measured\nphase oth")
	if len(answers) != 2 || !strings.Contains(answers[1], `"phase":"measured"`) {
		t.Errorf("answered %v", answers)
	}
}

func TestWrongCommandsAreAnsweredAndSurvived(t *testing.T) {
	for command, answer := range map[string]string{
		"":                            "unknown command",
		"count":                       "unknown command",
		"counts now":                  "unknown command",
		"phase":                       "needs a name",
		"phase x after soon":          "positive number",
		"phase x after -1":            "positive number",
		"phase two words":             "phase NAME after N",
		"phase " + longName(200):      "at most 100 bytes",
		longName(commandLimit * 3):    "at most 4096 bytes",
		"\x00\xff\x1b":                "unknown command",
		"phase \xff\"}{\x01":          `"phase":"start"`,
		"  counts\t":                  `"records":0`,
		longName(commandLimit-1) + "": "unknown command",
	} {
		answers := sinktest.Obey(t, receiver.Table, command+"\ncounts\n")
		if len(answers) != 3 || !strings.Contains(answers[0], answer) {
			t.Errorf("%.50q: answered %v", command, answers)
		}
	}
}

func TestACountTellsWhatTheRunnerPolls(t *testing.T) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(sinktest.Obey(t, receiver.Table, "counts\n")[0]), &fields); err != nil {
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
		"--protocols otlp-http, --depth 10 --record-name x":                           `"" is not one of`,
		"--protocols pigeon --depth 10 --record-name x":                               `"pigeon" is not one of ` + strings.Join(receiver.Table.Names(), ", "),
		"--protocols otlp-http,otlp-http --depth 10 --record-name x":                  "named twice",
		"--protocols otlp-http --record-name x":                                       "--depth is -1",
		"--protocols otlp-http --depth 10":                                            "--record-name is missing",
		"--protocols otlp-http --depth 10 --record-name x --max-open-trees 0":         "--max-open-trees is 0",
		"--protocols otlp-http --depth 10 --record-name x --max-memory 5":             "--max-memory is 5",
		"--protocols otlp-http --depth 10 --record-name x further":                    `unknown argument "further"`,
		"--protocols otlp-http --depth 10 --record-name x --max-memory 1GB":           "invalid value",
		fmt.Sprintf("--protocols otlp-http --record-name x --depth %d", depthLimit+1): "--depth is 10001",
	} {
		var explained strings.Builder
		status := control.Run(receiver.Table, strings.Fields(arguments), strings.NewReader(""), io.Discard, &explained)
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
	arguments := []string{"--protocols", "kieker-tcp", "--depth", "10", "--record-name", samples.Method}
	if status := control.Run(receiver.Table, arguments, strings.NewReader("counts\n"), write, io.Discard); status != 1 {
		t.Errorf("exit status %d", status)
	}
}

// startWithKieker starts the whole sink for Kieker's stream.
func startWithKieker(t *testing.T) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, receiver.Table, "--protocols", "kieker-tcp", "--depth", "10", "--record-name", samples.Method)
}

// Bounds that the README tells: bytes of a command, records of a tree.
const (
	commandLimit = 4096
	depthLimit   = 10_000
)

func longName(length int) string { return strings.Repeat("x", length) }
