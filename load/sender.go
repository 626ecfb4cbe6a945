package main

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"tracetax/load/internal/clock"
)

// outcome is what became of a request, a byte of outcome-0.u8.
type outcome uint8

const (
	right    outcome = iota
	wrong            // answered, with another status, length or text than expected
	timedOut         // not answered in whole in time
	refused          // no connection could be opened
	broken           // the connection ended before the answer did, or what came is no HTTP
	unsent           // no connection was free until the latest start
	outcomes         // how many there are
)

// noWholeAnswer begins the reason of a request that timed out.
const noWholeAnswer = "no whole answer within"

var outcomeNames = [outcomes]string{"right", "wrong", "timed_out", "refused", "broken", "unsent"}

// answer is what came of one sending. The time of one that failed is how long it lasted until it had.
type answer struct {
	beganNs, endedNs int64
	status           uint16 // 0 where nothing was answered
	outcome          outcome
	insideNs         int64 // how long the work took, as the answer says; 0 where that is not asked
}

// sender sends one request at a time.
type sender struct {
	target   *target
	mix      []endpoint
	requests []*fasthttp.Request // of each endpoint a copy of its own, since sending changes them
	response fasthttp.Response
	failures *failures
	inside   bool
	endedNs  int64 // of its last answer
}

func newSender(t *target, mix []endpoint, f *failures, inside bool) *sender {
	s := &sender{target: t, mix: mix, failures: f, inside: inside}
	for i := range mix {
		s.requests = append(s.requests, mix[i].request(t.base))
	}
	return s
}

// send sends a request and reads its answer to the end. The answer ends when the last of it reaches this machine. What is
// checked, is checked after the time was taken.
func (s *sender) send(number uint8) answer {
	a := answer{beganNs: clock.NowNs()}
	err := s.target.client.DoTimeout(s.requests[number], &s.response, s.target.timeOut)
	a.endedNs = endNs(&s.response, err, a.beganNs, clock.NowNs())
	s.endedNs = a.endedNs
	why := ""
	switch {
	case err == nil:
		a.status = uint16(s.response.StatusCode())
		a.insideNs, why = s.read(number, &s.response)
		if why != "" {
			a.outcome = wrong
		}
	case isTimeOut(err) || time.Duration(a.endedNs-a.beganNs) >= s.target.timeOut:
		a.outcome, why = timedOut, fmt.Sprintf("%s %s", noWholeAnswer, s.target.timeOut)
	case errors.As(err, &notConnected{}):
		a.outcome, why = refused, err.Error()
	default:
		a.outcome, why = broken, err.Error()
	}
	if why != "" {
		s.failures.tell(number, a.outcome, why)
	}
	return a
}

// read is how long the work took, where the answer must say it, and what is wrong with the answer, or nothing.
func (s *sender) read(number uint8, response *fasthttp.Response) (insideNs int64, why string) {
	if why = s.mix[number].judge(response); why == "" && s.inside {
		var told bool
		if insideNs, told = insideOf(response.Body()); !told {
			why = fmt.Sprintf("does not say how long its work took (%s): %s", insideKey, quoted(response.Body()))
		}
	}
	return insideNs, why
}

// insideKey stands before the number in an answer.
const insideKey = `"inside_ns"`

// insideOf finds how long the work took in an answer without reading all of its JSON.
func insideOf(body []byte) (ns int64, told bool) {
	place := bytes.LastIndex(body, []byte(insideKey))
	if place < 0 {
		return 0, false
	}
	rest := bytes.TrimLeft(body[place+len(insideKey):], " \t\r\n")
	if len(rest) == 0 || rest[0] != ':' {
		return 0, false
	}
	rest = bytes.TrimLeft(rest[1:], " \t\r\n")
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	ns, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	return ns, err == nil
}

func isTimeOut(err error) bool {
	var timeOut interface{ Timeout() bool }
	return errors.As(err, &timeOut) && timeOut.Timeout()
}

// failures keeps the first failure of each kind at each endpoint, in words.
type failures struct {
	lock  sync.Mutex
	first map[failure]string
}

type failure struct {
	endpoint uint8
	outcome  outcome
}

// clear forgets the failures of the warm-up.
func (f *failures) clear() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.first = nil
}

func (f *failures) tell(number uint8, o outcome, why string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.first == nil {
		f.first = map[failure]string{}
	}
	if _, is := f.first[failure{number, o}]; !is {
		f.first[failure{number, o}] = why
	}
}
