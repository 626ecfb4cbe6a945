package prometheus

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

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
)

const (
	// scrapeTime is how long an answer may take, to its last byte.
	scrapeTime = 5 * time.Second
	// scrapeRetry is the pause before an endpoint is asked again that has never answered.
	scrapeRetry = 200 * time.Millisecond
)

var (
	errScraping    = errors.New("metrics are scraped already: from one endpoint, once")
	errNotScraping = errors.New("nothing is scraped yet: scrape PORT PATH INTERVAL_MS METRIC begins")
)

// scraper asks an endpoint for its metrics: at an interval, and whenever a phase ends. Its methods but ask are for one
// goroutine.
type scraper struct {
	ledger   *ledger.Ledger
	messages *message.Memory
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

func newScraper(l *ledger.Ledger, m *message.Memory) *scraper {
	dialer := &net.Dialer{}
	transport := &http.Transport{
		DisableCompression:     true, // it is asked for and undone here: bytes are those of the wire
		MaxResponseHeaderBytes: httpserver.MaxHeaders,
		MaxIdleConnsPerHost:    1,
		DialContext: func(ctx context.Context, kind, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, kind, address)
			if err != nil {
				return nil, err
			}
			return network.Acknowledged(conn), nil
		},
	}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &scraper{ledger: l, messages: m, client: client, time: scrapeTime}
}

// Begin lets the endpoint be asked from now on: often until it answers, then at the interval.
func (s *scraper) Begin(port int, path string, interval time.Duration, metric string) error {
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

// Look asks in between: a phase is about to end.
func (s *scraper) Look() {
	if s.ending != nil && !s.ended {
		s.ask()
	}
}

// last asks a last time.
func (s *scraper) Last() error {
	if s.ending == nil {
		return errNotScraping
	}
	s.End()
	return nil
}

// answered is how many answers have come.
func (s *scraper) Answered() int64 {
	return s.answers.Load()
}

// End asks a last time, if it has begun and has not done so.
func (s *scraper) End() {
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
			s.ledger.Unanswered()
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
	arrived := &message.CountingReader{Reader: reply.Body}
	total, err := s.counter(reply, arrived)
	b := ledger.NewBatch(0)
	b.ArrivalNs, b.Requests, b.Bytes = clock.MonotonicNs(), 1, arrived.Count
	switch {
	case err == message.ErrBusy:
		s.ledger.Refuse()
	case err != nil && arrived.Broken:
		b.CutOff++
	case err != nil:
		b.Malformed++
	case total < s.total:
		b.Malformed++ // what falls is no counter
	default:
		b.Counted = total - s.total
		s.total = total
	}
	s.ledger.Apply(b)
}

// counter is what the counter stands at in an answer.
func (s *scraper) counter(reply *http.Response, arrived *message.CountingReader) (int64, error) {
	plain, err := message.Inflate(arrived, reply.Header.Get("Content-Encoding"))
	if err != nil {
		return 0, err
	}
	m, err := s.messages.Read(plain, -1)
	defer m.Release()
	if err != nil {
		return 0, err
	}
	openMetrics := strings.HasPrefix(reply.Header.Get("Content-Type"), "application/openmetrics-text")
	return counterIn(m.Bytes, s.metric, openMetrics)
}
