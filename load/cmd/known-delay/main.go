// Command known-delay is a service whose truth is known, to compare load generators with: it answers every request
// after a delay, and tells how long that really took. It is for benchmarks/load.py.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/valyala/fasthttp"

	"tracetax/load/internal/clock"
)

const body = `{"message":"Hello, World!"}`

// service delays each answer by a timer of the kernel's, and keeps how long that took.
type service struct {
	delay  time.Duration
	timers sync.Pool
	lock   sync.Mutex
	took   *hdrhistogram.Histogram
}

func (s *service) serve(c *fasthttp.RequestCtx) {
	beganNs := clock.NowNs()
	if s.delay > 0 {
		timer := s.timers.Get().(*clock.Timer)
		if _, err := timer.Until(beganNs + s.delay.Nanoseconds()); err != nil {
			panic(err)
		}
		s.timers.Put(timer)
	}
	c.SetContentType("application/json")
	c.SetBodyString(body)
	tookNs := clock.NowNs() - beganNs
	s.lock.Lock()
	defer s.lock.Unlock()
	s.took.RecordValue(tookNs)
}

func main() {
	delay := flag.Duration("delay", 0, "of every answer")
	flag.Parse()
	s := &service{delay: *delay, took: hdrhistogram.New(1, time.Hour.Nanoseconds(), 3)}
	s.timers.New = func() any {
		timer, err := clock.NewTimer(0)
		if err != nil {
			panic(err)
		}
		return timer
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, "known-delay:", err)
		os.Exit(1)
	}
	answers := json.NewEncoder(os.Stdout)
	answers.Encode(map[string]int{"port": listener.Addr().(*net.TCPAddr).Port})
	go (&fasthttp.Server{Handler: s.serve}).Serve(listener)
	io.Copy(io.Discard, os.Stdin) // it ends with its input
	s.lock.Lock()
	defer s.lock.Unlock()
	answers.Encode(map[string]int64{
		"requests":  s.took.TotalCount(),
		"median_ns": s.took.ValueAtPercentile(50),
		"p99_ns":    s.took.ValueAtPercentile(99),
	})
}
