package prometheus

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/control"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

const (
	neverAgain  = 3_600_000 // ms: a test in which only the phases ask
	plainText   = "text/plain; version=0.0.4; charset=utf-8"
	openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
)

func TestAPhaseIsNotEndedAtARecordThatIsOnlyACountersRise(t *testing.T) {
	r := startScraping(t, newEndpoint(t), neverAgain)
	var refused control.Complaint
	r.Ask("phase measured after 100", &refused)
	if !strings.Contains(refused.Error, "scraped") {
		t.Errorf("answered %+v", refused)
	}
	if last := r.Stop(); last.Phase != "start" {
		t.Errorf("the last phase is %q", last.Phase)
	}
}

func TestTheRiseOfACounterIsCountedInThePhaseThatMadeIt(t *testing.T) {
	for _, media := range []string{plainText, openMetrics} {
		e := newEndpoint(t)
		e.media = media
		r := startScraping(t, e, neverAgain)
		e.calls.Store(30)
		var warmUp sink.Report
		r.Ask("phase measured", &warmUp)
		e.calls.Store(80)
		var c sink.Counts
		r.Ask("scrape last", &c)
		e.calls.Store(100)
		measured := r.Stop()
		if asked := e.asked.Load(); c.Records != 50 || c.Answers != 3 || asked != 3 {
			t.Errorf("counted %+v, asked %d times", c, asked)
		}
		samples.ExpectCount(t, warmUp.Protocols["prometheus"], account.Account{Records: 30})
		samples.ExpectCount(t, measured.Protocols["prometheus"], account.Account{Records: 50})
		if got := measured.Protocols["prometheus"]; got.Requests != 1 || got.Bytes == 0 || got.LastArrivalNs == 0 {
			t.Errorf("reported %+v", got)
		}
	}
}

func TestWhatIsScrapedWithoutAMetricIsAskedForAndNotCounted(t *testing.T) {
	e := newEndpoint(t)
	e.calls.Store(30)
	r := sinktest.Start(t, protocol.Table{"prometheus": Protocol}, "--protocols", "prometheus", "--depth", "10", "--record-name", samples.SpanName)
	r.Ask(fmt.Sprintf("scrape %d /metrics?name=x %d", e.port(), neverAgain), &sink.Counts{})
	r.Await("answered", func(c sink.Counts) bool { return c.Answers > 0 })
	got := r.Stop().Protocols["prometheus"]
	samples.ExpectCount(t, got, account.Account{})
	if got.Requests != 2 || got.Bytes == 0 {
		t.Errorf("reported %+v", got)
	}
}

func TestTheEndpointIsAskedAtTheInterval(t *testing.T) {
	e := newEndpoint(t)
	r := startScraping(t, e, 20)
	for calls := range int64(5) {
		e.calls.Store(calls)
		r.Await("counted", func(c sink.Counts) bool { return c.Records == calls })
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
	r := sinktest.Start(t, protocol.Table{"prometheus": Protocol}, "--protocols", "prometheus", "--depth", "10", "--record-name", samples.SpanName)
	r.Ask(fmt.Sprintf("scrape %d / %d calls_total", e.port(), neverAgain), &sink.Counts{})
	for e.asked.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	var c sink.Counts
	if r.Ask("counts", &c); c.Answers != 0 || c.Records != 0 || c.Bytes != 0 {
		t.Errorf("counted %+v before it was there", c)
	}
	there.Store(true)
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 30 })
	samples.ExpectCount(t, r.Stop().Protocols["prometheus"], account.Account{Records: 30})
}

func TestAnEndpointThatIsGoneIsTold(t *testing.T) {
	e := newEndpoint(t)
	e.calls.Store(30)
	r := startScraping(t, e, neverAgain)
	e.Close()
	var first sink.Report
	r.Ask("phase measured", &first)
	samples.ExpectCount(t, first.Protocols["prometheus"], account.Account{Records: 30, Unanswered: 1})
	samples.ExpectCount(t, r.Stop().Protocols["prometheus"], account.Account{Unanswered: 1})
}

func TestAnswersThatSayNothingOfACounterAreCountedAsWhatTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		respond func(w http.ResponseWriter, text string)
		want    account.Account
	}{
		"compressed": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(samples.Compressed("gzip", []byte(text)))
		}, account.Account{Records: 10}},
		"half compressed": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Encoding", "gzip")
			body := samples.Compressed("gzip", []byte(text))
			w.Write(body[:len(body)-9])
		}, account.Account{Malformed: 1}},
		"unknown encoding": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Encoding", "br")
			io.WriteString(w, text)
		}, account.Account{Malformed: 1}},
		"page": {func(w http.ResponseWriter, _ string) {
			io.WriteString(w, "<html><body>hello</body></html>\n")
		}, account.Account{Malformed: 1}},
		"without its end": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Type", openMetrics)
			io.WriteString(w, text)
		}, account.Account{Malformed: 1}},
		"fallen": {func(w http.ResponseWriter, _ string) {
			io.WriteString(w, "calls_total 3\n")
		}, account.Account{Malformed: 1}},
		"broken off": {func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Length", "9999")
			io.WriteString(w, text)
		}, account.Account{CutOff: 1}},
		"too large": {func(w http.ResponseWriter, _ string) {
			io.Copy(w, io.LimitReader(samples.Endless{}, bounds.LeastMemory))
		}, account.Account{Malformed: 1}},
		"elsewhere": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", "/metrics")
			w.WriteHeader(http.StatusFound)
		}, account.Account{Unanswered: 1}},
		"refused": {func(w http.ResponseWriter, _ string) {
			w.WriteHeader(http.StatusForbidden)
		}, account.Account{Unanswered: 1}},
		"large headers": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("X", strings.Repeat("x", 2*httpserver.MaxHeaders))
		}, account.Account{Unanswered: 1}},
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
			r := sinktest.Start(t, protocol.Table{"prometheus": Protocol}, "--protocols", "prometheus", "--depth", "10", "--record-name", samples.SpanName, "--max-memory", fmt.Sprint(bounds.LeastMemory))
			r.Ask(fmt.Sprintf("scrape %d / %d calls_total", e.port(), neverAgain), &sink.Counts{})
			r.Await("counted", func(c sink.Counts) bool { return c.Records == 20 })
			var before, with sink.Report
			r.Ask("phase odd", &before)
			odd.Store(true)
			e.calls.Store(30)
			r.Ask("phase after", &with)
			samples.ExpectCount(t, with.Protocols["prometheus"], c.want)
			odd.Store(false)
			e.calls.Store(40)
			samples.ExpectCount(t, r.Stop().Protocols["prometheus"], account.Account{Records: 40 - 20 - c.want.Records})
		})
	}
}

func TestAnEndpointThatSaysNothingIsLeftAfterAWhile(t *testing.T) {
	silent, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	l := ledger.New(tree.NewTable(nil, 1, 10, 1<<20), nil)
	s := newScraper(l, message.NewMemory(1<<20, 1<<20))
	s.time = 20 * time.Millisecond
	if err := s.Begin(silent.Addr().(*net.TCPAddr).Port, "/metrics", time.Hour, "calls_total"); err != nil {
		t.Fatal(err)
	}
	s.End()
	if s.answers.Load() != 0 {
		t.Error("it has answered")
	}
	samples.ExpectCount(t, l.Close(), account.Account{})
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
	l := ledger.New(tree.NewTable(nil, 1, 10, 1<<20), nil)
	s := newScraper(l, message.NewMemory(1<<20, 1<<20))
	s.endpoint, s.metric = e.URL, "calls_total"
	// On a busy machine the while may be over before the stream has begun: that is no answer, and counts nothing.
	for s.time = 20 * time.Millisecond; s.answers.Load() == 0 && s.time < time.Minute; s.time *= 2 {
		s.ask()
	}
	samples.ExpectCount(t, l.Close(), account.Account{CutOff: 1})
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
		answers := sinktest.Obey(t, protocol.Table{"prometheus": Protocol}, command+"\ncounts\n")
		if last := answers[strings.Count(command, "\n")]; !strings.Contains(last, answer) {
			t.Errorf("%q: answered %s", command, last)
		}
	}
}
