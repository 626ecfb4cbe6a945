package otlp

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
)

func TestSpansOverHTTPAreCountedExactlyAndAnsweredWithAnEmptyMessage(t *testing.T) {
	r := startHTTP(t)
	size := 0
	for i := range uint64(20) {
		var spans []samples.Span
		for trace := range uint64(50) {
			spans = append(spans, samples.CallSpans(i*50+trace+1, 10)...)
		}
		request := samples.ExportRequest(spans...)
		size += len(request)
		code, media, body := r.Post("/v1/traces", protobufMedia, "", bytes.NewReader(request))
		if code != 200 || media != protobufMedia || body != "" {
			t.Fatalf("answered %d %s %q", code, media, body)
		}
	}
	c := r.Stop().Protocols["otlp-http"]
	if c.Requests != 20 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 || c.LastArrivalNs < c.FirstArrivalNs {
		t.Errorf("counted %+v", c)
	}
	samples.ExpectCount(t, c, account.Account{Records: 10_000, CompleteTrees: 1000})
}

func TestCompressedBodiesAreCounted(t *testing.T) {
	r := startHTTP(t)
	for encoding := range samples.Compressions {
		whole := samples.Compressed(encoding, samples.ExportRequest(samples.CallSpans(uint64(len(encoding)), 10)...))
		if code, _, text := r.Post("/v1/traces", protobufMedia, encoding, bytes.NewReader(whole)); code != 200 {
			t.Errorf("%s: %d %s", encoding, code, text)
		}
		if code, _, _ := r.Post("/v1/traces", protobufMedia, encoding, bytes.NewReader(whole[:len(whole)-6])); code != 400 {
			t.Errorf("cut %s: %d", encoding, code)
		}
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-http"], account.Account{Records: 20, CompleteTrees: 2, Malformed: 2})
}

func TestMetricsAndLogsOverHTTPAreAnsweredAndTheirBytesCounted(t *testing.T) {
	r := startHTTP(t)
	for path, size := range map[string]int{"/v1/metrics": 1000, "/v1/logs": 300} {
		if code, media, _ := r.Post(path, protobufMedia, "", bytes.NewReader(make([]byte, size))); code != 200 || media != protobufMedia {
			t.Errorf("%s: %d %s", path, code, media)
		}
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-http"], account.Account{OtherBytes: map[string]int64{ledger.Metrics: 1000, ledger.Logs: 300}})
}

func TestAGarbledBodyIsMalformed(t *testing.T) {
	r := startHTTP(t)
	if code, _, _ := r.Post("/v1/traces", protobufMedia, "", strings.NewReader("no protobuf")); code != 400 {
		t.Errorf("answered %d", code)
	}
	if code, _, _ := r.Post("/v1/traces", protobufMedia, "brotli", strings.NewReader("x")); code != 400 {
		t.Errorf("answered %d", code)
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-http"], account.Account{Malformed: 2})
}

func TestOtherMediaAndPathsAreTurnedAway(t *testing.T) {
	r := startHTTP(t)
	if code, _, _ := r.Post("/v1/traces", "text/plain", "", strings.NewReader("{}")); code != 415 {
		t.Errorf("text: %d", code)
	}
	if code, _, _ := r.Post("/v1/profiles", protobufMedia, "", nil); code != 404 {
		t.Errorf("profiles: %d", code)
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-http"], account.Account{Malformed: 1})
}

func TestARequestWhoseSenderLeavesIsCutOff(t *testing.T) {
	r := startHTTP(t)
	conn := r.Dial("otlp-http")
	fmt.Fprintf(conn, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\nabc", protobufMedia)
	conn.Close()
	r.Await("ended", func(c sink.Counts) bool { return c.Bytes == 3 && c.OpenConnections == 0 })
	samples.ExpectCount(t, r.Stop().Protocols["otlp-http"], account.Account{CutOff: 1})
}

func TestAnEndlessBodyIsCutAtTheLimit(t *testing.T) {
	r := startHTTP(t, "--max-memory", fmt.Sprint(bounds.LeastMemory))
	if code, _, _ := r.Post("/v1/traces", protobufMedia, "", io.LimitReader(samples.Endless{}, bounds.LeastMemory)); code != 413 {
		t.Errorf("answered %d", code)
	}
	if code, _, _ := r.Post("/v1/traces", protobufMedia, "", bytes.NewReader(make([]byte, bounds.LeastMemory))); code != 413 {
		t.Errorf("answered %d", code)
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-http"], account.Account{Malformed: 2})
}

func TestASmallBodyThatInflatesWithoutEndIsCutAtTheLimit(t *testing.T) {
	bomb := samples.Compressed("gzip", make([]byte, 4*bounds.LeastMemory))
	r := startHTTP(t, "--max-memory", fmt.Sprint(bounds.LeastMemory))
	if code, _, _ := r.Post("/v1/traces", protobufMedia, "gzip", bytes.NewReader(bomb)); code != 413 {
		t.Errorf("answered %d", code)
	}
}

func TestMessagesTogetherStayWithinTheirMemory(t *testing.T) {
	r := startHTTP(t, "--max-memory", fmt.Sprint(bounds.LeastMemory))
	// Each of these holds up to a quarter of the memory for messages, and does not end.
	limit := bounds.Divide(bounds.LeastMemory, 1).MessageLimit
	for range 6 {
		conn := r.Dial("otlp-http")
		fmt.Fprintf(conn, "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", protobufMedia, limit)
		go conn.Write(make([]byte, limit-1))
	}
	var last sink.Report
	r.Await("busy", func(sink.Counts) bool {
		code, _, _ := r.Post("/v1/traces", protobufMedia, "", bytes.NewReader(samples.ExportRequest(samples.CallSpans(1, 10)...)))
		r.Ask("phase next", &last)
		return code == 429 || last.Protocols["otlp-http"].Refused > 0
	})
}
