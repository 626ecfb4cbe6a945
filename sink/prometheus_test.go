package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const (
	neverAgain  = 3_600_000 // ms: a test in which only the phases ask
	plainText   = "text/plain; version=0.0.4; charset=utf-8"
	openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
)

// endpoint serves the metrics of a program that has counted calls.
type endpoint struct {
	*httptest.Server
	calls   atomic.Int64
	asked   atomic.Int64
	media   string
	respond func(w http.ResponseWriter, text string) // in place of an ordinary answer
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{media: plainText}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.asked.Add(1)
	calls := e.calls.Load()
	text := fmt.Sprintf("# TYPE calls_total counter\ncalls_total{method=\"a\"} %d\ncalls_total{method=\"b\"} %d.0\nother_total 7\n",
		calls/3, calls-calls/3)
	if e.media == openMetrics {
		text += "# EOF\n"
	}
	w.Header().Set("Content-Type", e.media)
	if e.respond != nil {
		e.respond(w, text)
		return
	}
	if r.URL.RequestURI() != "/metrics?name=x" || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	io.WriteString(w, text)
}

func (e *endpoint) port() int {
	return e.Listener.Addr().(*net.TCPAddr).Port
}

func startScraping(t *testing.T, e *endpoint, interval int) *running {
	t.Helper()
	r := start(t, "--protocols", "prometheus", "--depth", "10", "--record-name", testSpan)
	r.ask(fmt.Sprintf("scrape %d /metrics?name=x %d calls_total", e.port(), interval), &counts{})
	r.await("answered", func(c counts) bool { return c.Answers > 0 })
	return r
}

func TestAPhaseIsNotEndedAtARecordThatIsOnlyACountersRise(t *testing.T) {
	r := startScraping(t, newEndpoint(t), neverAgain)
	var refused complaint
	r.ask("phase measured after 100", &refused)
	if !strings.Contains(refused.Error, "scraped") {
		t.Errorf("answered %+v", refused)
	}
	if last := r.stop(); last.Phase != "start" {
		t.Errorf("the last phase is %q", last.Phase)
	}
}

func TestTheRiseOfACounterIsCountedInThePhaseThatMadeIt(t *testing.T) {
	for _, media := range []string{plainText, openMetrics} {
		e := newEndpoint(t)
		e.media = media
		r := startScraping(t, e, neverAgain)
		e.calls.Store(30)
		var warmUp report
		r.ask("phase measured", &warmUp)
		e.calls.Store(80)
		var c counts
		r.ask("scrape last", &c)
		e.calls.Store(100)
		measured := r.stop()
		if asked := e.asked.Load(); c.Records != 50 || c.Answers != 3 || asked != 3 {
			t.Errorf("counted %+v, asked %d times", c, asked)
		}
		expectCount(t, warmUp.Protocols["prometheus"], protocolCount{Records: 30})
		expectCount(t, measured.Protocols["prometheus"], protocolCount{Records: 50})
		if got := measured.Protocols["prometheus"]; got.Requests != 1 || got.Bytes == 0 || got.LastArrivalNs == 0 {
			t.Errorf("reported %+v", got)
		}
	}
}

func TestWhatIsScrapedWithoutAMetricIsAskedForAndNotCounted(t *testing.T) {
	e := newEndpoint(t)
	e.calls.Store(30)
	r := start(t, "--protocols", "prometheus", "--depth", "10", "--record-name", testSpan)
	r.ask(fmt.Sprintf("scrape %d /metrics?name=x %d", e.port(), neverAgain), &counts{})
	r.await("answered", func(c counts) bool { return c.Answers > 0 })
	got := r.stop().Protocols["prometheus"]
	expectCount(t, got, protocolCount{})
	if got.Requests != 2 || got.Bytes == 0 {
		t.Errorf("reported %+v", got)
	}
}

func TestTheEndpointIsAskedAtTheInterval(t *testing.T) {
	e := newEndpoint(t)
	r := startScraping(t, e, 20)
	for calls := range int64(5) {
		e.calls.Store(calls)
		r.await("counted", func(c counts) bool { return c.Records == calls })
	}
}

func TestAnEndpointThatIsNotThereYetIsAskedAgain(t *testing.T) {
	e := newEndpoint(t)
	e.calls.Store(30)
	var there atomic.Bool
	e.respond = func(w http.ResponseWriter, text string) {
		if !there.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		io.WriteString(w, text)
	}
	r := start(t, "--protocols", "prometheus", "--depth", "10", "--record-name", testSpan)
	r.ask(fmt.Sprintf("scrape %d / %d calls_total", e.port(), neverAgain), &counts{})
	for e.asked.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	var c counts
	if r.ask("counts", &c); c.Answers != 0 || c.Records != 0 || c.Bytes != 0 {
		t.Errorf("counted %+v before it was there", c)
	}
	there.Store(true)
	r.await("counted", func(c counts) bool { return c.Records == 30 })
	expectCount(t, r.stop().Protocols["prometheus"], protocolCount{Records: 30})
}

func TestAnEndpointThatIsGoneIsTold(t *testing.T) {
	e := newEndpoint(t)
	e.calls.Store(30)
	r := startScraping(t, e, neverAgain)
	e.Close()
	var first report
	r.ask("phase measured", &first)
	expectCount(t, first.Protocols["prometheus"], protocolCount{Records: 30, Unanswered: 1})
	expectCount(t, r.stop().Protocols["prometheus"], protocolCount{Unanswered: 1})
}

func TestAnswersThatSayNothingOfACounterAreCountedAsWhatTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		respond func(w http.ResponseWriter, text string)
		want    protocolCount
	}{
		"compressed": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(compressed("gzip", []byte(text)))
		}, protocolCount{Records: 10}},
		"half compressed": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Encoding", "gzip")
			body := compressed("gzip", []byte(text))
			w.Write(body[:len(body)-9])
		}, protocolCount{Malformed: 1}},
		"unknown encoding": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, text)
		}, protocolCount{Malformed: 1}},
		"page": {func(w http.ResponseWriter, _ string) {
			io.WriteString(w, "<html><body>hello</body></html>\n")
		}, protocolCount{Malformed: 1}},
		"without its end": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Type", openMetrics)
			io.WriteString(w, text)
		}, protocolCount{Malformed: 1}},
		"fallen": {func(w http.ResponseWriter, _ string) {
			io.WriteString(w, "calls_total 3\n")
		}, protocolCount{Malformed: 1}},
		"broken off": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Length", "9999")
			io.WriteString(w, text)
		}, protocolCount{CutOff: 1}},
		"too large": {func(w http.ResponseWriter, _ string) {
			io.Copy(w, io.LimitReader(endless{}, minMaxMemory))
		}, protocolCount{Malformed: 1}},
		"elsewhere": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", "/metrics")
			w.WriteHeader(http.StatusFound)
		}, protocolCount{Unanswered: 1}},
		"refused": {func(w http.ResponseWriter, _ string) {
			w.WriteHeader(http.StatusForbidden)
		}, protocolCount{Unanswered: 1}},
		"large headers": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("X", strings.Repeat("x", 2*maxHeaders))
		}, protocolCount{Unanswered: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			var odd atomic.Bool
			e.respond = func(w http.ResponseWriter, text string) {
				if odd.Load() {
					c.respond(w, text)
				} else {
					io.WriteString(w, text)
				}
			}
			e.calls.Store(20)
			r := start(t, "--protocols", "prometheus", "--depth", "10", "--record-name", testSpan, "--max-memory", fmt.Sprint(minMaxMemory))
			r.ask(fmt.Sprintf("scrape %d / %d calls_total", e.port(), neverAgain), &counts{})
			r.await("counted", func(c counts) bool { return c.Records == 20 })
			var before, with report
			r.ask("phase odd", &before)
			odd.Store(true)
			e.calls.Store(30)
			r.ask("phase after", &with)
			expectCount(t, with.Protocols["prometheus"], c.want)
			odd.Store(false)
			e.calls.Store(40)
			expectCount(t, r.stop().Protocols["prometheus"], protocolCount{Records: 40 - 20 - c.want.Records})
		})
	}
}

func TestAnEndpointThatSaysNothingIsLeftAfterAWhile(t *testing.T) {
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	l := newLedger(newTreeTable(nil, 1, 10, 1<<20), nil)
	s := newScraper(l, newMessages(1<<20, 1<<20))
	s.time = 20 * time.Millisecond
	if err := s.begin(silent.Addr().(*net.TCPAddr).Port, "/metrics", time.Hour, "calls_total"); err != nil {
		t.Fatal(err)
	}
	s.end()
	if s.answers.Load() != 0 {
		t.Error("it has answered")
	}
	expectCount(t, l.close(), protocolCount{})
}

func TestAStreamThatDoesNotEndIsLeftAfterAWhile(t *testing.T) {
	e := newEndpoint(t)
	gone := make(chan struct{})
	e.respond = func(w http.ResponseWriter, text string) {
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
		<-gone
	}
	defer close(gone)
	l := newLedger(newTreeTable(nil, 1, 10, 1<<20), nil)
	s := newScraper(l, newMessages(1<<20, 1<<20))
	s.endpoint, s.metric = e.URL, "calls_total"
	// On a busy machine the while may be over before the stream has begun: that is no answer, and counts nothing.
	for s.time = 20 * time.Millisecond; s.answers.Load() == 0 && s.time < time.Minute; s.time *= 2 {
		s.ask()
	}
	expectCount(t, l.close(), protocolCount{CutOff: 1})
}

func TestWrongScrapesAreAnswered(t *testing.T) {
	for command, answer := range map[string]string{
		"scrape":                             "scrape PORT PATH INTERVAL_MS METRIC",
		"scrape first":                       "scrape last, not",
		"scrape 1 2":                         "scrape PORT PATH INTERVAL_MS METRIC",
		"scrape 0 /metrics 1000":             "1 to 65535",
		"scrape 65536 /metrics 1000":         "1 to 65535",
		"scrape x /metrics 1000":             "1 to 65535",
		"scrape 1 metrics 1000":              "begins with a slash",
		"scrape 1 /%zz 1000":                 "invalid URL escape",
		"scrape 1 /metrics 0":                "positive number of milliseconds",
		"scrape 1 /metrics 15s":              "positive number of milliseconds",
		"scrape 1 /metrics 1000 a b":         "scrape PORT PATH INTERVAL_MS METRIC",
		"scrape last":                        "nothing is scraped yet",
		"scrape 1 / 1000 a\nscrape 1 / 1000": "scraped already",
		"scrape 1 / 1000 a\nscrape last":     `"records":0`,
	} {
		answers := obeyAll(t, command+"\ncounts\n")
		if last := answers[strings.Count(command, "\n")]; !strings.Contains(last, answer) {
			t.Errorf("%q: answered %s", command, last)
		}
	}
}

func TestASinkThatDoesNotScrapeSaysSo(t *testing.T) {
	r := startZipkin(t)
	for _, command := range []string{"scrape 1 / 1000 a", "scrape last"} {
		var answer complaint
		if r.ask(command, &answer); !strings.Contains(answer.Error, "none of the protocols here") {
			t.Errorf("%s: %q", command, answer.Error)
		}
	}
}
