package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const k6Columns = "metric_name,timestamp,metric_value,check,error,error_code,status,url\n"

func TestOfK6sLinesThoseOfWholeRequestsAreRead(t *testing.T) {
	text := k6Columns +
		"http_reqs,2000000,1,,,,200,http://127.0.0.1:8080/work\n" +
		"http_req_duration,2000000,1.5,,,,200,http://127.0.0.1:8080/work\n" +
		"http_req_waiting,2000000,1.2,,,,200,http://127.0.0.1:8080/work\n" +
		"http_req_duration,9000000,0.25,,refused,1212,0,http://127.0.0.1:8080/work\n" +
		"dropped_iterations,9000000,3,,,,,\n"
	found, err := readK6(strings.NewReader(text))
	expected := told{unsent: 3, requests: []request{
		{startNs: 500_000, serviceNs: 1_500_000, status: 200, url: "http://127.0.0.1:8080/work"},
		{startNs: 8_750_000, serviceNs: 250_000, broken: true, url: "http://127.0.0.1:8080/work"},
	}}
	if err != nil || !reflect.DeepEqual(found, expected) {
		t.Fatalf("%+v, %v; expected %+v", found, err, expected)
	}
}

func TestOfOhasLinesEachIsARequest(t *testing.T) {
	text := "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n" +
		"0.002,0.0001,0.0002,0.0011,0.0012,11,200\n0.001,0,0,0.0021,0.0022,11,503\n"
	found, err := readOha(strings.NewReader(text))
	expected := []request{{startNs: 2_000_000, serviceNs: 1_200_000, status: 200}, {startNs: 1_000_000, serviceNs: 2_200_000, status: 503}}
	if err != nil || !slices.Equal(found.requests, expected) {
		t.Fatalf("%+v, %v; expected %+v", found, err, expected)
	}
}

// k6 1.8.1 at 10/s on one connection, of a service that begins to listen late, once answers late, and once with 500.
// Lines of other metrics are left out.
func TestWhatK6HasReallyWrittenIsRead(t *testing.T) {
	found := recorded(t, "k6.csv", readK6)
	expected := map[uint16]int{0: 5, 200: 12, 500: 1}
	if statuses := statusesOf(found); !maps.Equal(statuses, expected) || found.unsent != 3 {
		t.Errorf("%v, %d unsent; expected %v, 3 unsent", statuses, found.unsent, expected)
	}
	late := found.requests[10]
	if late.serviceNs != 301_940_230 || late.startNs != 1_795_561_504_480_376_767-301_940_230 || late.broken {
		t.Errorf("the late one is %+v", late)
	}
	for k, sent := range found.requests {
		if !leadsTo(sent.url, "127.0.0.1:8080", "/owners?of=7") || sent.broken != (k < 5) {
			t.Errorf("request %d is %+v", k, sent)
		}
	}
}

// oha 1.16.0 at 10/s for 2 s, of a service that answers one request late, one with 500, and one not at all: of that oha
// has no line.
func TestWhatOhaHasReallyWrittenIsRead(t *testing.T) {
	found := recorded(t, "oha.csv", readOha)
	expected := map[uint16]int{200: 18, 500: 1}
	if statuses := statusesOf(found); !maps.Equal(statuses, expected) || found.unsent != 0 {
		t.Errorf("%v, %d unsent; expected %v", statuses, found.unsent, expected)
	}
	if late := found.requests[5]; late.startNs != 501_697_195 || late.serviceNs != 304_847_073 {
		t.Errorf("the late one is %+v", late)
	}
	if rate := found.rate(); rate < 9 || rate > 10.5 {
		t.Errorf("%.2f requests/s", rate)
	}
}

func recorded(t *testing.T, name string, read func(io.Reader) (told, error)) told {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	found, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func statusesOf(found told) map[uint16]int {
	statuses := map[uint16]int{}
	for _, sent := range found.requests {
		statuses[sent.status]++
	}
	return statuses
}

func TestWhatCannotBeReadIsToldByItsReason(t *testing.T) {
	for text, reason := range map[string]string{
		"":                              "EOF",
		"a,b\n1,2\n":                    `there is no column "metric_name"`,
		k6Columns + "http_req_duration": "a line has 1 columns",
		k6Columns + "http_req_duration,2000000,-1,,,,200,http://127.0.0.1/\n":    "-1 is no duration",
		k6Columns + "http_req_duration,soon,1,,,,200,http://127.0.0.1/\n":        `"soon": invalid syntax`,
		k6Columns + "http_req_duration,2000000,1e300,,,,200,http://127.0.0.1/\n": "1e300 is no duration",
	} {
		if _, err := readK6(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v, expected %q", text, err, reason)
		}
	}
}

func TestAnAddressMustBeThatOfTheService(t *testing.T) {
	for text, leads := range map[string]bool{
		"http://127.0.0.1:8080/work?a=1":   true,
		"http://localhost:8080/work?a=1":   true,
		"http://127.0.0.1:8080/work":       false,
		"http://127.0.0.1:8081/work?a=1":   false,
		"http://example.org:8080/work?a=1": false,
	} {
		if leadsTo(text, "127.0.0.1:8080", "/work?a=1") != leads {
			t.Error(text, "should lead there:", leads)
		}
	}
}

// toolOf is a program of that name which does what a shell is told, as an option of this program.
func toolOf(t *testing.T, name, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\nfor last; do :; done\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	words, err := json.Marshal([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	return string(words)
}

func lines(count, status int, url string) string {
	var text strings.Builder
	text.WriteString(k6Columns)
	for k := range count {
		fmt.Fprintf(&text, "http_req_duration,%d,2,,,,%d,%s\n", 10_000_000*(k+1), status, url)
	}
	return text.String()
}

func TestAToolOfTheUsersSendsTheMeasuredRequests(t *testing.T) {
	server := service(t, hello)
	script := fmt.Sprintf("cat > \"${last#csv=}\" <<'END'\n%sEND\nexit 99\n", lines(30, 200, server.URL+"/work"))
	d := measured(t, server.URL, "", "--calls", "25", "--rate", "100", "--tool", toolOf(t, "k6", script))
	if texts := d.texts("last-call"); !slices.Equal(texts, []string{"calls=30"}) {
		t.Error(texts)
	}
	if samples := d.values("samples"); len(samples) != 30 || samples[7] != 2_000_000 {
		t.Error(samples)
	}
	if late := d.values("late"); len(late) != 30 || slices.Max(late) != 0 {
		t.Error(late)
	}
	if starts := d.values("start"); starts[29] != 290_000_000 {
		t.Error(starts)
	}
	found := d.trial()
	if found.Calls != 30 || found.Load.Endpoints[0].Outcomes["right"] != 30 || found.Load.RateByTool != 100 {
		t.Errorf("%+v", found)
	}
	if left, err := filepath.Glob(filepath.Join(d.out, "*.csv")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestAToolThatDoesSomethingElseEndsTheTrial(t *testing.T) {
	server := service(t, hello)
	for script, reason := range map[string]string{
		"exit 3": "exit status 3",
		"exit 0": "has left no account of its requests",
		"cat > \"${last#csv=}\" <<'END'\n" + lines(1, 200, "http://127.0.0.1:1/x") + "END\n": "has requested http://127.0.0.1:1/x",
		"cat > \"${last#csv=}\" <<'END'\n" + k6Columns + "END\n":                             "has sent no request that was answered",
	} {
		d := start(t, server.URL, "", "--calls", "25", "--tool", toolOf(t, "k6", script))
		d.say("measure")
		if status := d.wait(); status != 1 || !strings.Contains(strings.Join(d.texts("error"), " "), reason) {
			t.Errorf("%s: %d, %q, expected %q", script, status, d.texts("error"), reason)
		}
	}
}

func TestAToolThatFailsIsNamedByItsOutcomes(t *testing.T) {
	server := service(t, hello)
	script := fmt.Sprintf("cat > \"${last#csv=}\" <<'END'\n%sEND\n", lines(3, 503, server.URL+"/work"))
	found := measured(t, server.URL, "", "--calls", "25", "--tool", toolOf(t, "k6", script)).trial()
	if of := found.Load.Endpoints[0]; of.Outcomes["wrong"] != 3 || of.First["wrong"] != "status 503 instead of 200" {
		t.Errorf("%+v", of)
	}
}

func TestWhatIsNoToolIsRefused(t *testing.T) {
	for text, reason := range map[string]string{
		"oha -n 5": "not a JSON array of words",
		"[]":       "not a JSON array of words",
		`["wrk"]`:  `requests of "wrk" cannot be read, those of k6 and oha can`,
	} {
		if _, err := newTool(text, t.TempDir()); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, expected %q", text, err, reason)
		}
	}
}
