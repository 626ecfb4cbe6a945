package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// mostEndpoints is how many a byte of endpoint-0.u8 can tell apart.
const mostEndpoints = 256

// endpoint is a kind of request, how often it is sent, and what a right answer is: a line of the file of requests.
type endpoint struct {
	Name    string            `json:"name"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Weight  float64           `json:"weight"`
	Status  int               `json:"status"`
	Length  *int              `json:"length"`
	Pattern string            `json:"pattern"`

	pattern *regexp.Regexp
}

// notOurs are headers that keep-alive and the length of a body decide.
var notOurs = []string{"connection", "content-length", "transfer-encoding", "expect", "upgrade"}

var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// readMix reads a file of requests: a JSON object on each line, empty lines aside. The error names every mistake.
func readMix(path string) ([]endpoint, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--requests: %w", err)
	}
	var mix []endpoint
	var problems []error
	for number, line := range bytes.Split(content, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, wrong := parseEndpoint(line)
		if slices.ContainsFunc(mix, func(other endpoint) bool { return other.Name == e.Name }) {
			wrong = append(wrong, fmt.Errorf("name %q stands on an earlier line, too: every endpoint has its own", e.Name))
		}
		for _, problem := range wrong {
			problems = append(problems, fmt.Errorf("%s line %d: %w", path, number+1, problem))
		}
		mix = append(mix, e)
	}
	if len(mix) == 0 || len(mix) > mostEndpoints {
		problems = append(problems, fmt.Errorf("%s has %d endpoints; 1 to %d can be told apart", path, len(mix), mostEndpoints))
	}
	return mix, errors.Join(problems...)
}

func parseEndpoint(line []byte) (endpoint, []error) {
	e := endpoint{Method: "GET", Weight: 1, Status: 200}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, []error{err}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return e, []error{errors.New("something follows the object: one endpoint a line")}
	}
	if e.Name == "" {
		e.Name = e.Path
	}
	return e, e.check()
}

// check compiles the pattern and returns all that is wrong.
func (e *endpoint) check() (wrong []error) {
	complain := func(format string, values ...any) { wrong = append(wrong, fmt.Errorf(format, values...)) }
	if !strings.HasPrefix(e.Path, "/") {
		complain("path %q does not begin with a slash", e.Path)
	}
	if strings.ContainsFunc(e.Path, func(r rune) bool { return r <= ' ' || r == '#' || r > '~' }) {
		complain("path %q: spaces, # and what is not ASCII must be written as %%20", e.Path)
	}
	if !token.MatchString(e.Method) {
		complain("method %q is none", e.Method)
	}
	if e.Body != "" && (e.Method == "GET" || e.Method == "HEAD") {
		complain("a %s is sent without a body", e.Method)
	}
	if !(e.Weight > 0 && e.Weight <= 1e9) {
		complain("weight %g is not above 0 and at most 1e9", e.Weight)
	}
	if e.Status < 100 || e.Status > 999 {
		complain("status %d is not from 100 to 999", e.Status)
	}
	if e.Length != nil && *e.Length < 0 {
		complain("length %d is below 0", *e.Length)
	}
	for name, value := range e.Headers {
		if !token.MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			complain("header %q: %q cannot be sent", name, value)
		}
		if slices.Contains(notOurs, strings.ToLower(name)) {
			complain("header %q is set by the load itself", name)
		}
	}
	var err error
	if e.pattern, err = regexp.Compile(e.Pattern); err != nil {
		complain("pattern: %w", err)
	}
	return wrong
}

// request is what is sent to an address such as http://127.0.0.1:8080.
func (e *endpoint) request(base string) *fasthttp.Request {
	request := &fasthttp.Request{}
	request.SetRequestURI(base + e.Path)
	request.Header.SetMethod(e.Method)
	for name, value := range e.Headers {
		request.Header.Set(name, value)
		request.UseHostHeader = request.UseHostHeader || strings.EqualFold(name, "host")
	}
	request.SetBodyString(e.Body)
	return request
}

// judge tells what is wrong with an answer, or nothing.
func (e *endpoint) judge(response *fasthttp.Response) string {
	body := response.Body()
	switch {
	case response.StatusCode() != e.Status:
		return fmt.Sprintf("status %d where %d is expected: %s", response.StatusCode(), e.Status, quoted(body))
	case e.Length != nil && len(body) != *e.Length:
		return fmt.Sprintf("%d bytes where %d are expected: %s", len(body), *e.Length, quoted(body))
	case e.Pattern != "" && !e.pattern.Match(body):
		return fmt.Sprintf("does not match %s: %s", e.Pattern, quoted(body))
	}
	return ""
}

// quoted is the begin of an answer, as text.
func quoted(body []byte) string {
	const shown = 120
	if len(body) > shown {
		return fmt.Sprintf("%.*q…", shown, body[:shown])
	}
	return fmt.Sprintf("%q", body)
}
