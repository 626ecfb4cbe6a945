package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

func TestOnlyThisMachineIsALegalAddress(t *testing.T) {
	for url, address := range map[string]string{
		"http://127.0.0.1:8080":          "127.0.0.1:8080",
		"http://127.3.2.1:80/":           "127.3.2.1:80",
		"http://localhost:9":             "localhost:9",
		"http://[::1]:8080":              "[::1]:8080",
		"http://127.0.0.1":               "127.0.0.1:80",
		"http://192.0.2.1:8080":          "",
		"http://10.0.0.1:8080":           "",
		"http://0.0.0.0:8080":            "",
		"http://[::]:8080":               "",
		"http://example.com":             "",
		"http://localhost.example.com:1": "",
		"http://127.0.0.1.example.com":   "",
		"http://user@127.0.0.1:1":        "",
		"https://127.0.0.1:8080":         "",
		"http://127.0.0.1:0":             "",
		"http://127.0.0.1:70000":         "",
		"http://127.0.0.1:8080/path":     "",
		"127.0.0.1:8080":                 "",
		"http://":                        "",
	} {
		found, err := loopbackAddress(url)
		if found != address || (err == nil) != (address != "") {
			t.Errorf("%s: %q, %v", url, found, err)
		}
		if err != nil && !strings.Contains(err.Error(), "--url") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestAnotherMachineIsRefusedWithASentence(t *testing.T) {
	d := start(t, "http://192.0.2.1:80", "", "--calls", "1")
	want := "192.0.2.1 is not this machine's loopback (127.0.0.1, [::1], localhost), and load is sent nowhere else"
	if status := d.wait(); status != 1 || !strings.Contains(d.errors.String(), want) || !strings.Contains(d.texts("error")[0], want) {
		t.Errorf("%d, %s", status, d.errors)
	}
}

func TestANameThatLeadsElsewhereIsNotDialled(t *testing.T) {
	target := newTarget(&options{address: "localhost:80", connections: 1, timeOut: time.Second})
	// An address of documentation's block stands for what a name could have been resolved to.
	_, err := target.dial("192.0.2.1:80")
	if err == nil || !strings.Contains(err.Error(), "192.0.2.1:80 is not this machine's loopback") || target.opened.Load() != 0 {
		t.Error(err)
	}
}

func TestAServiceThatIsNotThereYetIsAwaited(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	d := start(t, "http://"+address, "", "--calls", "1")
	d.await("main", 1)
	time.Sleep(50 * time.Millisecond)
	if told := d.texts("ready"); len(told) != 0 {
		t.Fatal("ready before the service")
	}
	if listener, err = net.Listen("tcp", address); err != nil {
		t.Skip("the port is taken: ", err)
	}
	var asked atomic.Int64
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	if text := d.await("ready", 1); text != "requests=3" || asked.Load() != 3 {
		t.Errorf("ready %s after %d", text, asked.Load())
	}
	d.end()
}

func TestAServiceThatNeverGetsReadyIsNamed(t *testing.T) {
	for path, reason := range map[string]string{"/gone": "its last answer had status 404: \"404 page not found", "/": "status 500"} {
		server := service(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/gone" {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(http.StatusInternalServerError)
		})
		d := start(t, server.URL, "", "--calls", "1", "--ready", path, "--ready-within", "10ms")
		if status := d.wait(); status != 1 || !strings.Contains(d.texts("error")[0], server.URL+path+" was not ready within 10ms: ") ||
			!strings.Contains(d.errors.String(), reason) {
			t.Errorf("%d, %s", status, d.errors)
		}
	}
}

func TestNobodyWhoListensIsNamed(t *testing.T) {
	d := start(t, "http://127.0.0.1:1", "", "--calls", "1", "--ready-within", "10ms")
	if status := d.wait(); status != 1 || !strings.Contains(d.errors.String(), "connection refused") {
		t.Errorf("%d, %s", status, d.errors)
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	var followed atomic.Int64
	server := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/there" {
			followed.Add(1)
		}
		http.Redirect(w, r, "/there", http.StatusFound)
	})
	d := start(t, server.URL, "", "--calls", "1", "--ready", "/work")
	if status := d.wait(); status != 1 || !strings.Contains(d.errors.String(), "/work answers 302 and leads to /there; load follows nowhere") {
		t.Errorf("%d, %s", status, d.errors)
	}
	work := measured(t, server.URL, "", "--calls", "3").trial().Load.Endpoints[0]
	if work.Outcomes["wrong"] != 3 || work.Statuses["302"] != 3 || followed.Load() != 0 {
		t.Errorf("%+v, followed %d times", work, followed.Load())
	}
}

func TestTheEndOfTheInputEndsTheWaitForAnAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	target := newTarget(&options{address: silent.Addr().String(), connections: 1, timeOut: time.Second})
	ctx, stop := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, stop)
	began := time.Now()
	if _, err := target.awaitReady(ctx, target.askFor("/"), &fasthttp.Response{}, time.Minute); !errors.Is(err, context.Canceled) || time.Since(began) > readyTimeOut/2 {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}
