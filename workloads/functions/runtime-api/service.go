package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	api = "/2018-06-01/runtime/"

	// What an event may have at most, as in Lambda.
	maxEventBytes = 6 << 20

	// Until when the client is told that an invocation may run: Lambda's most.
	timeout = 15 * time.Minute
)

// invocation is a request that waits for a client, or for its answer.
type invocation struct {
	id     string
	event  []byte
	answer chan answer
}

// answer is what a client has made of an event.
type answer struct {
	status int
	body   []byte
}

// service hands requests to clients, and their answers back.
type service struct {
	waiting chan *invocation
	last    atomic.Uint64

	mutex   sync.Mutex
	running map[string]*invocation
}

func newService() *service {
	return &service{waiting: make(chan *invocation), running: map[string]*invocation{}}
}

// front is what callers of the function reach: any POST is an invocation.
func (s *service) front() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", s.invoke)
	return mux
}

// back is what clients reach: Lambda's Runtime API.
func (s *service) back() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api+"invocation/next", s.next)
	mux.HandleFunc("POST "+api+"invocation/{id}/response", s.answered(http.StatusOK))
	mux.HandleFunc("POST "+api+"invocation/{id}/error", s.answered(http.StatusInternalServerError))
	mux.HandleFunc("POST "+api+"init/error", initError)
	return mux
}

// invoke waits for a client, and for its answer. Like Lambda, it refuses what is no JSON, and takes nothing as {}.
func (s *service) invoke(w http.ResponseWriter, r *http.Request) {
	event, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEventBytes))
	if err != nil {
		reply(w, http.StatusRequestEntityTooLarge, message("RequestTooLargeException", err.Error()))
		return
	}
	if len(event) == 0 {
		event = []byte("{}")
	}
	if !json.Valid(event) {
		reply(w, http.StatusBadRequest, message("InvalidRequestContentException", "the event is no JSON"))
		return
	}
	one := &invocation{id: s.id(), event: event, answer: make(chan answer, 1)}
	select {
	case s.waiting <- one:
	case <-r.Context().Done():
		return
	}
	select {
	case said := <-one.answer:
		reply(w, said.status, said.body)
	case <-r.Context().Done(): // its answer, if one comes, is taken and dropped
	}
}

// id numbers invocations, in the shape that Lambda's have.
func (s *service) id() string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", s.last.Add(1))
}

// next gives a client the next invocation, as soon as there is one.
func (s *service) next(w http.ResponseWriter, r *http.Request) {
	select {
	case one := <-s.waiting:
		s.mutex.Lock()
		s.running[one.id] = one
		s.mutex.Unlock()
		header := w.Header()
		header.Set("Lambda-Runtime-Aws-Request-Id", one.id)
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(timeout).UnixMilli(), 10))
		header.Set("Lambda-Runtime-Invoked-Function-Arn", arn())
		reply(w, http.StatusOK, one.event)
	case <-r.Context().Done():
	}
}

// answered takes a client's answer to an invocation that it has been given.
func (s *service) answered(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			reply(w, http.StatusBadRequest, message("BadRequest", err.Error()))
			return
		}
		id := r.PathValue("id")
		s.mutex.Lock()
		one := s.running[id]
		delete(s.running, id)
		s.mutex.Unlock()
		if one == nil {
			reply(w, http.StatusForbidden, message("InvalidRequestID", "no such invocation runs"))
			return
		}
		one.answer <- answer{status, body}
		reply(w, http.StatusAccepted, []byte(`{"status":"OK"}`))
	}
}

// initError tells why a client will not come up; it ends by itself after that.
func initError(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintln(os.Stderr, "runtime-api: the function does not come up:", strings.TrimSpace(string(body)))
	reply(w, http.StatusAccepted, []byte(`{"status":"OK"}`))
}

func arn() string {
	return "arn:aws:lambda:us-east-1:000000000000:function:" + os.Getenv("AWS_LAMBDA_FUNCTION_NAME")
}

func message(kind, text string) []byte {
	said, _ := json.Marshal(map[string]string{"errorType": kind, "errorMessage": text})
	return said
}

// reply writes head and body at once: net/http holds both back until the handler has returned.
func reply(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // who does not wait any more misses nothing
}
