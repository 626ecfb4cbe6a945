package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"tracetax/load/internal/clock"
)

const (
	mostBody      = 64 << 20 // bytes of an answer
	mostHeader    = 16 << 10
	askAgain      = 5 * time.Millisecond
	askAgainSoon  = time.Millisecond       // where the answer is what is measured
	mostWrong     = 20                     // answers of a service whose first right one is awaited that may be wrong
	askAgainLater = 100 * time.Millisecond // where something answers: each question may be traced, and counts
	readyTimeOut  = 10 * time.Second       // the first request may load half of the service
)

// target is the service, and the connections to it.
type target struct {
	base    string // such as http://127.0.0.1:8080
	client  *fasthttp.HostClient
	timeOut time.Duration
	opened  atomic.Int64 // connections so far
}

func newTarget(o *options) *target {
	t := &target{base: "http://" + o.address, timeOut: o.timeOut}
	t.client = &fasthttp.HostClient{
		Addr:                      o.address,
		Name:                      "tracetax-load",
		Dial:                      t.dial,
		MaxConns:                  o.connections,
		MaxIdleConnDuration:       o.idle,
		ConnPoolStrategy:          fasthttp.LIFO, // only as many connections are used as are needed
		MaxIdemponentCallAttempts: 1,             // nothing is sent twice
		ReadBufferSize:            mostHeader,
		MaxResponseBodySize:       mostBody,
		DisablePathNormalizing:    true, // a path is sent as it stands in the file
	}
	return t
}

// notConnected is why no connection could be opened.
type notConnected struct{ error }

func (e notConnected) Unwrap() error { return e.error }

// dial opens a connection, and looks at the very address that a name has led to.
func (t *target) dial(address string) (net.Conn, error) {
	dialer := net.Dialer{
		Timeout: t.timeOut,
		Control: func(_, resolved string, _ syscall.RawConn) error {
			if to, err := netip.ParseAddrPort(resolved); err != nil || !to.Addr().Unmap().IsLoopback() {
				return fmt.Errorf("%s is not this machine's loopback", resolved)
			}
			return nil
		},
	}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		return nil, notConnected{err}
	}
	timed, err := newConnection(conn.(*net.TCPConn))
	if err != nil {
		conn.Close()
		return nil, notConnected{err}
	}
	t.opened.Add(1)
	return timed, nil
}

// loopbackAddress is host and port of an URL, which must lead to this machine and have no path.
func loopbackAddress(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("--url: %w", err)
	}
	if u.Scheme != "http" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery+u.Fragment != "" {
		return "", fmt.Errorf("--url %s: not of the form http://127.0.0.1:PORT; paths stand in the file of requests", text)
	}
	address, err := netip.ParseAddr(u.Hostname())
	if u.Hostname() != "localhost" && (err != nil || !address.Unmap().IsLoopback()) {
		return "", fmt.Errorf("--url %s: %s is not this machine's loopback (127.0.0.1, [::1], localhost), "+
			"and load is sent nowhere else", text, u.Hostname())
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", fmt.Errorf("--url %s: a port is 1 to 65535", text)
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// readiness is how the service became ready.
type readiness struct {
	Requests int   `json:"requests"` // that may have reached it: agents trace them like all others
	Refused  int   `json:"refused"`  // that reached nobody, because nothing listened yet
	WaitedNs int64 `json:"waited_ns"`

	SentNs, AnsweredNs int64 `json:"-"` // the last time that it was asked, and the end of what came of it
}

// question is what a service is asked until it answers.
type question struct {
	request *fasthttp.Request
	shown   string        // the path, for sentences
	again   time.Duration // how long after a refused connection
	timeOut time.Duration // of one answer
	most    int           // answers with another status after which it is given up; 0 where there may be any number
}

// askFor is the question for a path.
func (t *target) askFor(path string) question {
	request := (&endpoint{Method: "GET", Path: path}).request(t.base)
	return question{request: request, shown: t.base + path, again: askAgain, timeOut: readyTimeOut}
}

// awaitReady asks until it is answered with a status from 200 to 299. The answer is left in response.
func (t *target) awaitReady(ctx context.Context, q question, response *fasthttp.Response, within time.Duration) (readiness, error) {
	var r readiness
	beganNs := clock.NowNs()
	for {
		pause, asked := q.again, make(chan error, 1)
		r.SentNs = clock.NowNs()
		go func() { asked <- t.client.DoTimeout(q.request, response, min(q.timeOut, within)) }()
		var err error
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case err = <-asked:
		}
		r.AnsweredNs = endNs(response, err, r.SentNs, clock.NowNs())
		r.WaitedNs = r.AnsweredNs - beganNs
		if errors.As(err, &notConnected{}) {
			r.Refused++
		} else {
			r.Requests++
			pause = askAgainLater
		}
		status := response.StatusCode()
		switch {
		case err == nil && status >= 200 && status < 300:
			return r, nil
		case err == nil && status >= 300 && status < 400:
			return r, fmt.Errorf("%s answers %d and leads to %s; load follows nowhere: --ready needs a path that answers itself",
				q.shown, status, response.Header.Peek("Location"))
		case err == nil:
			err = fmt.Errorf("its last answer had status %d: %s", status, quoted(response.Body()))
			if r.Requests == q.most {
				return r, fmt.Errorf("%s was answered %d times, and never right: %w", q.shown, r.Requests, err)
			}
		}
		if r.WaitedNs > int64(within) {
			return r, fmt.Errorf("%s was not ready within %s: %w", q.shown, within, err)
		}
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-time.After(pause):
		}
	}
}
