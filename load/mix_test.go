package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mixOf(t *testing.T, text string) ([]endpoint, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return readMix(path)
}

func TestAnEndpointNeedsAPathOnly(t *testing.T) {
	mix, err := mixOf(t, "{\"path\": \"/db\"}\n\n")
	if err != nil || len(mix) != 1 {
		t.Fatal(mix, err)
	}
	if e := mix[0]; e.Name != "/db" || e.Method != "GET" || e.Weight != 1 || e.Status != 200 || e.Length != nil {
		t.Errorf("%+v", e)
	}
}

func TestEveryMistakeInTheRequestsIsNamedWithItsLine(t *testing.T) {
	lines := []string{
		`{"path": "db"}`, "begin with a slash",
		`{"path": "/a b"}`, "spaces",
		`{"path": "/a", "method": "GET IT"}`, "method",
		`{"path": "/b", "weight": 0}`, "weight 0",
		`{"path": "/c", "status": 20}`, "status 20",
		`{"path": "/d", "length": -1}`, "length -1",
		`{"path": "/e", "pattern": "("}`, "pattern: ",
		`{"path": "/f", "headers": {"Content-Length": "3"}}`, `"Content-Length" is set by the load itself`,
		`{"path": "/g", "headers": {"X": "a\r\nHost: b"}}`, "cannot be sent",
		`{"path": "/h", "body": "x"}`, "without a body",
		`{"path": "/i", "wait": 1}`, `unknown field "wait"`,
		`{"path": "/j"} {"path": "/k"}`, "one endpoint a line",
		`{"path": "/b"}`, `"/b" stands on an earlier line`,
		`path=/l`, "invalid character",
	}
	var text strings.Builder
	for i := 0; i < len(lines); i += 2 {
		fmt.Fprintln(&text, lines[i])
	}
	_, err := mixOf(t, text.String())
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	for i := 0; i < len(lines); i += 2 {
		found := false
		for line := range strings.Lines(err.Error()) {
			found = found || strings.Contains(line, fmt.Sprintf("line %d: ", i/2+1)) && strings.Contains(line, lines[i+1])
		}
		if !found {
			t.Errorf("nothing about %q on line %d in:\n%s", lines[i+1], i/2+1, err)
		}
	}
}

func TestAByteTellsTheEndpointsApart(t *testing.T) {
	for count, fits := range map[int]bool{0: false, 1: true, mostEndpoints: true, mostEndpoints + 1: false} {
		var text strings.Builder
		for i := range count {
			fmt.Fprintf(&text, "{\"path\": \"/%d\"}\n", i)
		}
		if _, err := mixOf(t, text.String()); (err == nil) != fits {
			t.Errorf("%d endpoints: %v", count, err)
		}
	}
}

func TestARequestArrivesAsItStandsInTheFile(t *testing.T) {
	var arrived []string
	server := service(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived = append(arrived, fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Host, " ", r.Header.Get("X-Key"), " ", string(body)))
	})
	mix := `{"path": "/a%2fb//c/../d?q=1&q=%20+", "method": "POST", "body": "né", "headers": {"Host": "shop.example", "X-Key": "v"}}`
	measured(t, server.URL, mix, "--calls", "1")
	if want := "POST /a%2fb//c/../d?q=1&q=%20+ shop.example v né"; len(arrived) != 1 || arrived[0] != want {
		t.Errorf("%q, wanted %q", arrived, want)
	}
}

func TestTheEndpointOfEachRequestIsRecorded(t *testing.T) {
	served := map[string]int{}
	server := service(t, func(_ http.ResponseWriter, r *http.Request) { served[r.URL.Path]++ })
	mix := "{\"path\": \"/a\", \"weight\": 3}\n{\"path\": \"/b\"}"
	d := measured(t, server.URL, mix, "--calls", "200", "--connections", "1", "--seed", "5")
	endpoints := d.content("endpoint-0.u8")
	counts := map[byte]int{}
	for _, number := range endpoints {
		counts[number]++
	}
	if len(endpoints) != 200 || counts[0] != served["/a"] || counts[1] != served["/b"] || served["/b"] == 0 {
		t.Errorf("recorded %v, served %v", counts, served)
	}
	trial := d.trial()
	if trial.Load.Seed != "5" || trial.Load.Endpoints[0].Requests != served["/a"] || trial.Load.Endpoints[1].Name != "/b" {
		t.Errorf("%+v", trial.Load)
	}
}
