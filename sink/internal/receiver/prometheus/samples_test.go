package prometheus

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
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

func startScraping(t *testing.T, e *endpoint, interval int) *sinktest.Running {
	t.Helper()
	r := sinktest.Start(t, protocol.Table{"prometheus": Protocol}, "--protocols", "prometheus", "--depth", "10", "--record-name", samples.SpanName)
	r.Ask(fmt.Sprintf("scrape %d /metrics?name=x %d calls_total", e.port(), interval), &sink.Counts{})
	r.Await("answered", func(c sink.Counts) bool { return c.Answers > 0 })
	return r
}
