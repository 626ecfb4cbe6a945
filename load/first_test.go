package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tracetax/load/internal/clock"
)

const function = `{"name": "f", "method": "POST", "path": "/", "body": "{}", "pattern": "right"}`

// later is a server for tests that listens only after a while, on a port that is known before.
func later(t *testing.T, after time.Duration, handler http.HandlerFunc) string {
	t.Helper()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := taken.Addr().String()
	taken.Close()
	server := &http.Server{Addr: address, Handler: handler}
	t.Cleanup(func() { server.Close() })
	go func() {
		time.Sleep(after)
		server.ListenAndServe()
	}()
	return "http://" + address
}

func invoked(w http.ResponseWriter, r *http.Request) {
	if body, _ := io.ReadAll(r.Body); r.Method != "POST" || string(body) != "{}" {
		http.Error(w, "no invocation", http.StatusBadRequest)
		return
	}
	io.WriteString(w, `{"result": "right", "inside_ns": 4200}`)
}

func TestTheFirstAnswerLastsFromTheMomentThatIsGiven(t *testing.T) {
	const after = 80 * time.Millisecond
	since := clock.NowNs()
	url := later(t, after, invoked)
	d := measured(t, url, function, "--ready", "f", "--calls", "1", "--since", strconv.FormatInt(since, 10), "--inside")
	took := time.Duration(d.values("samples")[0])
	if took < after || took > after+50*time.Millisecond {
		t.Errorf("the first answer took %s after a start of %s", took, after)
	}
	if inside := d.values("inside"); len(inside) != 1 || inside[0] != 4200 {
		t.Errorf("inside: %d", inside)
	}
	var document struct{ Load struct{ Ready readiness } }
	text, err := os.ReadFile(filepath.Join(d.out, "trial.json"))
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if ready := document.Load.Ready; err != nil || ready.Requests != 1 || ready.Refused < 10 {
		t.Errorf("asked %+v, %v", ready, err)
	}
}

func TestAServiceCanBeAskedByAnEndpointWhetherItIsReady(t *testing.T) {
	var asked atomic.Int64
	url := later(t, 0, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		invoked(w, r)
	})
	d := measured(t, url, function, "--ready", "f", "--calls", "5", "--inside")
	if ready := d.texts("ready")[0]; ready != "requests=3" {
		t.Error(ready)
	}
	if inside := d.values("inside"); len(inside) != 5 {
		t.Errorf("inside: %d", inside)
	}
}

func TestAFunctionThatAlwaysFailsIsGivenUp(t *testing.T) {
	url := later(t, 0, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "it threw", http.StatusInternalServerError)
	})
	d := start(t, url, function, "--ready", "f", "--calls", "5")
	if status := d.wait(); status != 1 || !strings.Contains(d.errors.String(), `was answered 20 times, and never right: its last answer had status 500: "it threw\n"`) {
		t.Errorf("%d: %s", status, d.errors)
	}
}

func TestAWrongFirstAnswerIsNone(t *testing.T) {
	for body, why := range map[string]string{
		`{"result": "other", "inside_ns": 1}`: "does not match right",
		`{"result": "right"}`:                 `does not say how long its work took ("inside_ns")`,
	} {
		url := later(t, 0, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) })
		d := measured(t, url, function, "--ready", "f", "--calls", "1", "--since", fmt.Sprint(clock.NowNs()), "--inside")
		text, err := os.ReadFile(filepath.Join(d.out, "trial.json"))
		var document struct{ Load struct{ Endpoints []tally } }
		if err == nil {
			err = json.Unmarshal(text, &document)
		}
		if err != nil || !strings.Contains(document.Load.Endpoints[0].First["wrong"], why) {
			t.Errorf("%s: %v, %+v", body, err, document)
		}
	}
}

func TestHowLongTheWorkTookIsFoundInAnAnswer(t *testing.T) {
	for body, want := range map[string]int64{
		`{"inside_ns":17,"result":{}}`:                        17,
		`{"result": {"inside_ns": 3}, "inside_ns" : 9999999}`: 9999999,
		`{"inside_ns": "17"}`:                                 -1,
		`{"inside_ns": -4}`:                                   -1,
		`{"inside_ns": 99999999999999999999}`:                 -1,
		`{"inside_ns"`:                                        -1,
		`{"inside_ns":`:                                       -1,
		`{}`:                                                  -1,
	} {
		ns, told := insideOf([]byte(body))
		if told != (want >= 0) || told && ns != want {
			t.Errorf("%s: %d, %v", body, ns, told)
		}
	}
}

func TestTheFirstAnswerIsOneRequestBackToBack(t *testing.T) {
	d := start(t, "http://127.0.0.1:9", function, "--ready", "f", "--calls", "2", "--since", "1")
	if status := d.wait(); status != 1 || !strings.Contains(d.errors.String(), "--since goes with --calls 1 and --rate full") {
		t.Errorf("%d: %s", status, d.errors)
	}
}
