package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tracetax/load/internal/clock"
)

const ms = int64(time.Millisecond)

// A service that stops for a while owes an answer to all who would have come meanwhile, whether or not they were sent:
// the latency counts from the intended start. Timed from the real one, a single request would be slow.
func TestAStallShowsInTheLatenciesOfAllRequestsBehindIt(t *testing.T) {
	const stall, period = 100 * time.Millisecond, 5 * time.Millisecond
	for _, connections := range []string{"1", "2", "64"} {
		var first sync.Once
		server := service(t, func(http.ResponseWriter, *http.Request) {
			first.Do(func() { time.Sleep(stall) }) // all others wait until it has returned
		})
		d := measured(t, server.URL, "", "--calls", "30", "--rate", "200", "--connections", connections)
		late, took := d.values("late"), d.values("samples")
		sumNs := int64(0)
		for k := range 20 {
			sumNs += took[k]
			if owed := int64(stall) - int64(k)*int64(period); late[k]+took[k] < owed {
				t.Errorf("%s connections: request %d took %d ns, owed %d", connections, k, late[k]+took[k], owed)
			}
		}
		trial := d.trial()
		if connections == "1" {
			if sumNs > 19*int64(stall)/2 {
				t.Errorf("the service itself took %d ns", sumNs)
			}
			if missed := trial.Load.Starts; missed.Missed < 19 || missed.Waited < 19 || missed.Late.Max < 90*ms {
				t.Errorf("%+v", missed)
			}
		}
		if found := trial.Load.Endpoints[0].Response; found.Max < 99*ms || found.Median > found.P90 || found.P99 > found.P999 {
			t.Errorf("%s connections: %+v", connections, found)
		}
	}
}

func TestARequestThatFindsNoConnectionUntilItsLatestStartIsNotSent(t *testing.T) {
	var served atomic.Int64
	server := service(t, func(http.ResponseWriter, *http.Request) {
		served.Add(1)
		time.Sleep(300 * time.Millisecond)
	})
	d := measured(t, server.URL, "", "--calls", "10", "--rate", "100", "--connections", "1", "--latest", "100ms")
	if outcomes := d.content("outcome-0.u8"); !slices.Equal(outcomes, append([]byte{0}, slices.Repeat([]byte{5}, 9)...)) {
		t.Errorf("outcomes %v", outcomes)
	}
	late, samples := d.values("late"), d.values("samples")
	if samples[9] != 0 || late[9] < 300*ms-90*ms || slices.Max(samples) != samples[0] || samples[0] < 300*ms {
		t.Errorf("late %v, samples %v", late, samples)
	}
	trial := d.trial()
	work := trial.Load.Endpoints[0]
	if served.Load() != 1 || work.Outcomes["unsent"] != 9 || work.Outcomes["right"] != 1 || trial.Load.Starts.Missed < 9 {
		t.Errorf("served %d, %+v, %+v", served.Load(), work, trial.Load.Starts)
	}
	if why := work.First["unsent"]; why != "no connection was free within 100ms" {
		t.Error(why)
	}
	if text := d.texts("written")[0]; !strings.Contains(text, " unsent=9 ") || !strings.Contains(text, " waited=9 ") {
		t.Error(text)
	}
}

func TestARequestWithoutAWholeAnswerInTimeIsTimedOut(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"nothing": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"half": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "hello")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		d := measured(t, service(t, handler).URL, "", "--calls", "4", "--rate", "100", "--time-out", "50ms")
		work := d.trial().Load.Endpoints[0]
		if work.Outcomes["timed_out"] != 4 || work.First["timed_out"] != "no whole answer within 50ms" {
			t.Errorf("%s: %+v", name, work)
		}
		if samples := d.values("samples"); slices.Min(samples) < 50*ms {
			t.Errorf("%s: given up after %v", name, samples)
		}
	}
}

func TestAWrongAnswerIsCountedByEndpointWithItsReason(t *testing.T) {
	server := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		hello(w, r)
	})
	mix := strings.Join([]string{
		`{"path": "/right", "length": 5, "pattern": "^hel+o$"}`,
		`{"path": "/broken"}`,
		`{"path": "/length", "length": 6}`,
		`{"path": "/pattern", "pattern": "world"}`,
	}, "\n")
	d := measured(t, server.URL, mix, "--calls", "200")
	for i, why := range []string{
		"",
		`status 500 where 200 is expected: "hello"`,
		`5 bytes where 6 are expected: "hello"`,
		`does not match world: "hello"`,
	} {
		found := d.trial().Load.Endpoints[i]
		kind, status := "wrong", "200"
		if why == "" {
			kind = "right"
		}
		if i == 1 {
			status = "500"
		}
		if found.First["wrong"] != why || found.Outcomes[kind] != found.Requests || found.Statuses[status] != found.Requests || found.Requests == 0 {
			t.Errorf("%+v", found)
		}
	}
	endpoints, outcomes := d.content("endpoint-0.u8"), d.content("outcome-0.u8")
	for k := range endpoints {
		if (endpoints[k] == 0) != (outcomes[k] == 0) {
			t.Errorf("request %d: endpoint %d, outcome %d", k, endpoints[k], outcomes[k])
		}
	}
}

func TestAConnectionThatCannotBeOpenedIsRefused(t *testing.T) {
	server := service(t, hello)
	d := start(t, server.URL, "", "--calls", "5", "--rate", "100")
	d.await("ready", 1)
	server.Close()
	d.say("measure", "drained")
	d.await("written", 1)
	// The connection that was open for the question whether it is ready may be found closed first.
	work := d.trial().Load.Endpoints[0]
	if work.Outcomes["refused"] < 4 || work.Outcomes["refused"]+work.Outcomes["broken"] != 5 || len(work.Statuses) != 0 ||
		!strings.Contains(work.First["refused"], "connection refused") {
		t.Errorf("%+v", work)
	}
	d.end()
}

func TestAConnectionThatEndsBeforeTheAnswerIsBrokenAndNothingIsSentTwice(t *testing.T) {
	var served atomic.Int64
	server := service(t, func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	work := measured(t, server.URL, "", "--calls", "20").trial().Load.Endpoints[0]
	if work.Outcomes["broken"] != 20 || served.Load() != 20 || work.First["broken"] == "" {
		t.Errorf("%+v, served %d", work, served.Load())
	}
}

func TestChunksAreReadToTheEnd(t *testing.T) {
	server := service(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			io.WriteString(w, "chunk ")
			w.(http.Flusher).Flush()
		}
	})
	mix := `{"path": "/", "length": 18, "pattern": "^(chunk ){3}$"}`
	trial := measured(t, server.URL, mix, "--calls", "50", "--connections", "1").trial()
	if work := trial.Load.Endpoints[0]; work.Outcomes["right"] != 50 || trial.Load.Opened > 1 {
		t.Errorf("%+v, %d connections opened", work, trial.Load.Opened)
	}
}

// counted is a server that counts its connections.
func counted(t *testing.T, handler http.HandlerFunc) (server *httptest.Server, opened, closed *atomic.Int64) {
	t.Helper()
	opened, closed = &atomic.Int64{}, &atomic.Int64{}
	server = httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			opened.Add(1)
		case http.StateClosed:
			closed.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server, opened, closed
}

func TestConnectionsAreKeptAndBounded(t *testing.T) {
	server, opened, _ := counted(t, func(http.ResponseWriter, *http.Request) { time.Sleep(time.Millisecond) })
	for _, rate := range []string{"full", "5000"} {
		before := opened.Load()
		d := measured(t, server.URL, "", "--calls", "300", "--connections", "3", "--rate", rate, "--idle", "1m")
		if now := opened.Load() - before; now > 3 {
			t.Errorf("%s: %d connections", rate, now)
		}
		if told := d.trial().Load.Opened; told > 3 {
			t.Errorf("%s: %d connections told", rate, told)
		}
	}
}

func TestAConnectionThatIsNotUsedIsClosedBeforeTheServiceDoes(t *testing.T) {
	server, opened, closed := counted(t, hello)
	d := start(t, server.URL, "", "--calls", "1", "--idle", "20ms")
	d.await("ready", 1)
	for until := time.Now().Add(limit); closed.Load() < opened.Load() && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	d.say("measure", "drained")
	d.await("written", 1)
	if trial := d.trial(); trial.Load.Opened != 1 || trial.Load.Endpoints[0].Outcomes["right"] != 1 || opened.Load() != 2 {
		t.Errorf("%d connections told, %d opened, %+v", trial.Load.Opened, opened.Load(), trial.Load.Endpoints)
	}
	d.end()
}

func TestAPhaseThatIsStoppedReturnsAtOnce(t *testing.T) {
	server := service(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	o := &options{address: strings.TrimPrefix(server.URL, "http://"), connections: 2, timeOut: 2 * limit, calls: 5, rate: 1000, latest: limit}
	for _, rate := range []float64{1000, 0.001} {
		o.rate = rate
		trial, err := newTrial(o, []endpoint{{Method: "GET", Path: "/", Weight: 1}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { trial.load.timer.Close() })
		ctx, stop := context.WithCancel(context.Background())
		context.AfterFunc(ctx, trial.load.timer.Interrupt)
		time.AfterFunc(30*time.Millisecond, stop)
		began := time.Now()
		if err := trial.load.perform(ctx, trial.plan, trial.results, 2); err == nil || time.Since(began) > limit {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		server.CloseClientConnections()
	}
}

func TestARequestWaitedOnlyWhereNoConnectionWasFree(t *testing.T) {
	server := service(t, hello)
	o := &options{address: server.Listener.Addr().String(), connections: 1, timeOut: limit, latest: limit}
	mix := []endpoint{{Name: "work", Method: "GET", Path: "/work", Status: http.StatusOK}}
	s := newSender(newTarget(o), mix, &failures{}, false)
	p := plan{endpoints: make([]uint8, 2), starts: make([]int64, 2)}
	current := &phase{plan: p, results: newResults(p, false), epochNs: clock.NowNs()}
	for k, endedNs := range []int64{current.epochNs - 1, current.epochNs + 1} {
		s.endedNs, current.results.waited[k] = endedNs, true // as the load saw it: it had not read the answer before
		(&load{o: o}).sendAt(current, k, s)
	}
	if current.results.waited[0] || !current.results.waited[1] {
		t.Errorf("waited: %v", current.results.waited)
	}
	if s.endedNs <= current.epochNs {
		t.Errorf("the last answer ended at %d", s.endedNs)
	}
}
