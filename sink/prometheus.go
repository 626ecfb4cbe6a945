package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// scrapeTime is how long an answer may take, to its last byte.
	scrapeTime = 5 * time.Second
	// scrapeRetry is the pause before an endpoint is asked again that has never answered.
	scrapeRetry = 200 * time.Millisecond
)

// prometheus is what a Prometheus does: nothing is sent to the sink, it asks the agent for its metrics, by the command
// scrape. Its records are what a counter has risen by: a number, without trees.
var prometheus = protocol{
	scraped:   true,
	structure: func() structure { return nil },
}

var (
	errScraping    = errors.New("metrics are scraped already: from one endpoint, once")
	errNotScraping = errors.New("nothing is scraped yet: scrape PORT PATH INTERVAL_MS METRIC begins")
)

// scraper asks an endpoint for its metrics: at an interval, and whenever a phase ends. Its methods but ask are for one
// goroutine.
type scraper struct {
	ledger   *ledger
	messages *messages
	client   *http.Client
	time     time.Duration // for one answer

	endpoint string
	metric   string // "" if nothing is counted
	interval time.Duration
	ending   chan struct{} // nil before the begin
	ended    bool
	running  sync.WaitGroup

	answers atomic.Int64
	mu      sync.Mutex // is held while the endpoint is asked
	total   int64      // what the counter stood at; it begins at 0, as its process does
}

func newScraper(l *ledger, m *messages) *scraper {
	dialer := &net.Dialer{}
	transport := &http.Transport{
		DisableCompression:     true, // it is asked for and undone here: bytes are those of the wire
		MaxResponseHeaderBytes: maxHeaders,
		MaxIdleConnsPerHost:    1,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &boundedConn{Conn: conn, acknowledge: acknowledger(conn), leave: func() {}}, nil
		},
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &scraper{ledger: l, messages: m, client: client, time: scrapeTime}
}

// begin lets the endpoint be asked from now on: often until it answers, then at the interval.
func (s *scraper) begin(port int, path string, interval time.Duration, metric string) error {
	if s.ending != nil {
		return errScraping
	}
	endpoint, err := url.Parse("http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + path)
	if err != nil {
		return err
	}
	s.endpoint, s.metric, s.interval = endpoint.String(), metric, interval
	s.ending = make(chan struct{})
	s.running.Go(func() {
		for {
			pause := s.interval
			if s.ask(); s.answers.Load() == 0 {
				pause = min(pause, scrapeRetry)
			}
			select {
			case <-s.ending:
				return
			case <-time.After(pause):
			}
		}
	})
	return nil
}

// look asks in between: a phase is about to end.
func (s *scraper) look() {
	if s.ending != nil && !s.ended {
		s.ask()
	}
}

// end asks a last time.
func (s *scraper) end() {
	if s.ending == nil || s.ended {
		return
	}
	close(s.ending)
	s.running.Wait()
	s.ask()
	s.ended = true
	s.client.CloseIdleConnections()
}

// ask reads the metrics once and enters what they say.
func (s *scraper) ask() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), s.time)
	defer cancel()
	reply, err := s.get(ctx)
	if err != nil {
		if s.answers.Load() > 0 {
			s.ledger.unanswered()
		}
		return
	}
	defer reply.Body.Close()
	s.enter(reply)
	s.answers.Add(1)
}

// get asks as Prometheus does. Only status 200 is an answer.
func (s *scraper) get(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.endpoint, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
	request.Header.Set("Accept-Encoding", "gzip")
	reply, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		reply.Body.Close()
		return nil, errors.New(reply.Status)
	}
	return reply, nil
}

// enter reads an answer. One that cannot be understood to its end counts nothing.
func (s *scraper) enter(reply *http.Response) {
	arrived := &countingReader{Reader: reply.Body}
	total, err := s.counter(reply, arrived)
	b := newBatch(0)
	b.arrivalNs, b.requests, b.bytes = monotonicNs(), 1, arrived.count
	switch {
	case err == errBusy:
		s.ledger.refuse()
	case err != nil && arrived.broken:
		b.cutOff++
	case err != nil:
		b.malformed++
	case total < s.total:
		b.malformed++ // what falls is no counter
	default:
		b.counted = total - s.total
		s.total = total
	}
	s.ledger.apply(b)
}

// counter is what the counter stands at in an answer.
func (s *scraper) counter(reply *http.Response, arrived *countingReader) (int64, error) {
	plain, err := inflate(arrived, reply.Header.Get("Content-Encoding"))
	if err != nil {
		return 0, err
	}
	m, err := s.messages.read(plain, -1)
	defer m.release()
	if err != nil {
		return 0, err
	}
	openMetrics := strings.HasPrefix(reply.Header.Get("Content-Type"), "application/openmetrics-text")
	return counterIn(m.bytes, s.metric, openMetrics)
}
