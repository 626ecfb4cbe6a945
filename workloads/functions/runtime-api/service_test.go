package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// both gives a service's front, which callers reach, and its back, which clients reach.
func both(t *testing.T) (front, back *httptest.Server) {
	t.Helper()
	s := newService()
	front, back = httptest.NewServer(s.front()), httptest.NewServer(s.back())
	t.Cleanup(func() { front.Close(); back.Close() })
	return front, back
}

// call invokes the function in the background.
func call(front *httptest.Server, event string) <-chan string {
	answer := make(chan string, 1)
	go func() { answer <- post(front.URL, event) }()
	return answer
}

// post gives status and body of an answer.
func post(url, body string) string {
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.Status[:3] + " " + string(text)
}

// next gives number and event of the invocation that a client is given.
func next(t *testing.T, back *httptest.Server) (id, event string) {
	t.Helper()
	response, err := http.Get(back.URL + api + "invocation/next")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	for _, name := range []string{"Deadline-Ms", "Invoked-Function-Arn"} {
		if response.Header.Get("Lambda-Runtime-"+name) == "" {
			t.Errorf("an invocation has no %s", name)
		}
	}
	return response.Header.Get("Lambda-Runtime-Aws-Request-Id"), string(text)
}

func expect(t *testing.T, what, found, expected string) {
	t.Helper()
	if found != expected {
		t.Errorf("%s: %q instead of %q", what, found, expected)
	}
}

func TestAnEventReachesTheClientAndItsAnswerTheCaller(t *testing.T) {
	front, back := both(t)
	answer := call(front, `{"a":1}`)
	id, event := next(t, back)
	expect(t, "event", event, `{"a":1}`)
	expect(t, "to the client", post(back.URL+api+"invocation/"+id+"/response", `{"b":2}`), `202 {"status":"OK"}`)
	expect(t, "to the caller", <-answer, `200 {"b":2}`)
}

func TestWhatAFunctionRaisesIsNoSuccess(t *testing.T) {
	front, back := both(t)
	answer := call(front, `{}`)
	id, _ := next(t, back)
	post(back.URL+api+"invocation/"+id+"/error", `{"errorMessage":"no"}`)
	expect(t, "to the caller", <-answer, `500 {"errorMessage":"no"}`)
}

func TestNothingIsAnEmptyEventAndWhatIsNoJSONIsRefused(t *testing.T) {
	front, back := both(t)
	answer := call(front, "")
	id, event := next(t, back)
	expect(t, "event", event, "{}")
	post(back.URL+api+"invocation/"+id+"/response", "1")
	expect(t, "to the caller", <-answer, "200 1")
	if said := post(front.URL, "{"); !strings.HasPrefix(said, "400 ") || !strings.Contains(said, "no JSON") {
		t.Error(said)
	}
}

func TestAClientHasOneInvocationAtATimeAndOthersWait(t *testing.T) {
	front, back := both(t)
	first, second := call(front, "1"), call(front, "2")
	id, event := next(t, back)
	select {
	case said := <-first:
		t.Fatal(said)
	case said := <-second:
		t.Fatal(said)
	case <-time.After(50 * time.Millisecond):
	}
	post(back.URL+api+"invocation/"+id+"/response", event)
	other, after := next(t, back)
	post(back.URL+api+"invocation/"+other+"/response", after)
	expect(t, "first", <-first, "200 1")
	expect(t, "second", <-second, "200 2")
}

func TestAnAnswerToNoInvocationIsRefused(t *testing.T) {
	_, back := both(t)
	if said := post(back.URL+api+"invocation/7/response", "1"); !strings.HasPrefix(said, "403 ") {
		t.Error(said)
	}
}

func TestACallerWhoHasGoneTakesNoAnswerFromTheNext(t *testing.T) {
	front, back := both(t)
	client := http.Client{Timeout: 50 * time.Millisecond}
	if _, err := client.Post(front.URL, "application/json", strings.NewReader("1")); err == nil {
		t.Fatal("nobody could have answered")
	}
	answer := call(front, "2")
	id, event := next(t, back)
	expect(t, "event", event, "2")
	post(back.URL+api+"invocation/"+id+"/response", "3")
	expect(t, "to the caller", <-answer, "200 3")
}
