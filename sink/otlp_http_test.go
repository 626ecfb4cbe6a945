package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func startHTTP(t *testing.T, arguments ...string) *running {
	t.Helper()
	return start(t, append([]string{"--protocols", "otlp-http", "--depth", "10", "--record-name", testSpan}, arguments...)...)
}

// url is an address at the only port of the sink.
func (r *running) url(path string) string {
	for _, port := range r.ports {
		return fmt.Sprintf("http://127.0.0.1:%d%s", port, path)
	}
	return ""
}

// post sends a body and returns the status, the content type and the body of the reply.
func (r *running) post(path, media, encoding string, body io.Reader) (int, string, string) {
	r.t.Helper()
	request, err := http.NewRequest(http.MethodPost, r.url(path), body)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	if encoding != "" {
		request.Header.Set("Content-Encoding", encoding)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, _ := io.ReadAll(reply.Body)
	return reply.StatusCode, reply.Header.Get("Content-Type"), string(text)
}

func TestSpansOverHTTPAreCountedExactlyAndAnsweredWithAnEmptyMessage(t *testing.T) {
	r := startHTTP(t)
	size := 0
	for i := range uint64(20) {
		var spans []span
		for trace := range uint64(50) {
			spans = append(spans, callSpans(i*50+trace+1, 10)...)
		}
		request := exportRequest(spans...)
		size += len(request)
		code, media, body := r.post("/v1/traces", protobufMedia, "", bytes.NewReader(request))
		if code != 200 || media != protobufMedia || body != "" {
			t.Fatalf("answered %d %s %q", code, media, body)
		}
	}
	c := r.stop().Protocols["otlp-http"]
	if c.Requests != 20 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 || c.LastArrivalNs < c.FirstArrivalNs {
		t.Errorf("counted %+v", c)
	}
	expectCount(t, c, protocolCount{Records: 10_000, CompleteTrees: 1000})
}

func TestCompressedBodiesAreCounted(t *testing.T) {
	r := startHTTP(t)
	for encoding := range compressions {
		whole := compressed(encoding, exportRequest(callSpans(uint64(len(encoding)), 10)...))
		if code, _, text := r.post("/v1/traces", protobufMedia, encoding, bytes.NewReader(whole)); code != 200 {
			t.Errorf("%s: %d %s", encoding, code, text)
		}
		if code, _, _ := r.post("/v1/traces", protobufMedia, encoding, bytes.NewReader(whole[:len(whole)-6])); code != 400 {
			t.Errorf("cut %s: %d", encoding, code)
		}
	}
	expectCount(t, r.stop().Protocols["otlp-http"], protocolCount{Records: 20, CompleteTrees: 2, Malformed: 2})
}

func TestMetricsAndLogsOverHTTPAreAnsweredAndTheirBytesCounted(t *testing.T) {
	r := startHTTP(t)
	for path, size := range map[string]int{"/v1/metrics": 1000, "/v1/logs": 300} {
		if code, media, _ := r.post(path, protobufMedia, "", bytes.NewReader(make([]byte, size))); code != 200 || media != protobufMedia {
			t.Errorf("%s: %d %s", path, code, media)
		}
	}
	expectCount(t, r.stop().Protocols["otlp-http"], protocolCount{OtherBytes: map[string]int64{metrics: 1000, logs: 300}})
}

func TestAGarbledBodyIsMalformed(t *testing.T) {
	r := startHTTP(t)
	if code, _, _ := r.post("/v1/traces", protobufMedia, "", strings.NewReader("no protobuf")); code != 400 {
		t.Errorf("answered %d", code)
	}
	if code, _, _ := r.post("/v1/traces", protobufMedia, "brotli", strings.NewReader("x")); code != 400 {
		t.Errorf("answered %d", code)
	}
	expectCount(t, r.stop().Protocols["otlp-http"], protocolCount{Malformed: 2})
}

func TestOtherMediaAndPathsAreTurnedAway(t *testing.T) {
	r := startHTTP(t)
	if code, _, _ := r.post("/v1/traces", "text/plain", "", strings.NewReader("{}")); code != 415 {
		t.Errorf("text: %d", code)
	}
	if code, _, _ := r.post("/v1/profiles", protobufMedia, "", nil); code != 404 {
		t.Errorf("profiles: %d", code)
	}
	expectCount(t, r.stop().Protocols["otlp-http"], protocolCount{Malformed: 1})
}

func TestARequestWhoseSenderLeavesIsCutOff(t *testing.T) {
	r := startHTTP(t)
	conn := r.dial("otlp-http")
	fmt.Fprintf(conn, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\nabc", protobufMedia)
	conn.Close()
	r.await("ended", func(c counts) bool { return c.Bytes == 3 && c.OpenConnections == 0 })
	expectCount(t, r.stop().Protocols["otlp-http"], protocolCount{CutOff: 1})
}

func TestAnEndlessBodyIsCutAtTheLimit(t *testing.T) {
	r := startHTTP(t, "--max-memory", fmt.Sprint(minMaxMemory))
	if code, _, _ := r.post("/v1/traces", protobufMedia, "", io.LimitReader(endless{}, minMaxMemory)); code != 413 {
		t.Errorf("answered %d", code)
	}
	if code, _, _ := r.post("/v1/traces", protobufMedia, "", bytes.NewReader(make([]byte, minMaxMemory))); code != 413 {
		t.Errorf("answered %d", code)
	}
	expectCount(t, r.stop().Protocols["otlp-http"], protocolCount{Malformed: 2})
}

func TestASmallBodyThatInflatesWithoutEndIsCutAtTheLimit(t *testing.T) {
	bomb := compressed("gzip", make([]byte, 4*minMaxMemory))
	r := startHTTP(t, "--max-memory", fmt.Sprint(minMaxMemory))
	if code, _, _ := r.post("/v1/traces", protobufMedia, "gzip", bytes.NewReader(bomb)); code != 413 {
		t.Errorf("answered %d", code)
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestMessagesTogetherStayWithinTheirMemory(t *testing.T) {
	r := startHTTP(t, "--max-memory", fmt.Sprint(minMaxMemory))
	// Each of these holds up to a quarter of the memory for messages, and does not end.
	limit := divide(minMaxMemory, 1).messageLimit
	for range 6 {
		conn := r.dial("otlp-http")
		fmt.Fprintf(conn, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", protobufMedia, limit)
		go conn.Write(make([]byte, limit-1))
	}
	var last report
	r.await("busy", func(counts) bool {
		code, _, _ := r.post("/v1/traces", protobufMedia, "", bytes.NewReader(exportRequest(callSpans(1, 10)...)))
		r.ask("phase next", &last)
		return code == 429 || last.Protocols["otlp-http"].Refused > 0
	})
}
