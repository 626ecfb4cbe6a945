package otlp

import (
	"bytes"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
)

func TestEverySpanInJSONIsCountedExactly(t *testing.T) {
	samples.ExpectCount(t, countJSONSpans(10, jsonRequest(samples.Calls(1, 500, 10)...)), account.Account{Records: 5000, CompleteTrees: 500})
}

func TestJSONAndProtobufGiveTheSameAccount(t *testing.T) {
	spans := append(samples.Calls(1, 20, 10), samples.Span{Trace: 1, ID: 99, Name: "other"}, samples.Span{Trace: 3, ID: 7, Parent: 6, Start: 9, End: 1},
		samples.Span{Trace: 4, ID: 0}, samples.Span{Trace: 0, ID: 4}, samples.Calls(5, 1, 10)[2])
	samples.ExpectCount(t, countJSONSpans(10, jsonRequest(spans...)), countSpans(10, samples.ExportRequest(spans...)))
}

func TestTheOrderOfKeysAndWhatIsUnknownDoNotMatter(t *testing.T) {
	text := `{"x":[{"spans":[1]}],"resourceSpans":[{"scopeSpans":null},{"scopeSpans":[{"spans":[` +
		`{"name":"MonitoredClass.\u006donitoredMethod","endTimeUnixNano":2,"startTimeUnixNano":"1","parentSpanId":null,` +
		`"spanId":"00000000000000AB","events":[{"name":"x","traceId":"1"}],"traceId":"000000000000000000000000000000cd"}` +
		`],"schemaUrl":""}]}]}`
	samples.ExpectCount(t, countJSONSpans(1, []byte(text)), account.Account{Records: 1, CompleteTrees: 1})
}

func TestACutRequestInJSONIsMalformedAndItsWholeSpansCount(t *testing.T) {
	text := jsonRequest(samples.CallSpans(1, 3)...)
	last := bytes.LastIndex(text, []byte(`{"traceId"`))
	step := 1
	if testing.Short() { // so with the race detector, which makes each count slow and finds nothing in one goroutine
		step = 50
	}
	for cut := 0; cut < len(text); cut += step {
		c := countJSONSpans(3, text[:cut])
		if c.Malformed != 1 || c.UnexpectedNames != 0 || cut > last && c.Records < 2 {
			t.Fatalf("cut at %d: %+v", cut, c)
		}
	}
}

func TestOTLPOverHTTPInJSONIsAnsweredInJSON(t *testing.T) {
	r := startHTTP(t)
	text := jsonRequest(samples.Calls(1, 50, 10)...)
	for encoding := range samples.Compressions {
		if code, media, body := r.Post("/v1/traces", "application/json; charset=utf-8", encoding, bytes.NewReader(samples.Compressed(encoding, text))); code != 200 || media != httpserver.JSON || body != "{}" {
			t.Errorf("%s: %d %s %q", encoding, code, media, body)
		}
	}
	for path, size := range map[string]int{"/v1/metrics": 1000, "/v1/logs": 300} {
		if code, media, body := r.Post(path, httpserver.JSON, "", bytes.NewReader(make([]byte, size))); code != 200 || media != httpserver.JSON || body != "{}" {
			t.Errorf("%s: %d %s %q", path, code, media, body)
		}
	}
	if code, _, _ := r.Post("/v1/traces", httpserver.JSON, "", strings.NewReader(`[]`)); code != 400 {
		t.Errorf("no request: %d", code)
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-http"], account.Account{
		Records: 500, CompleteTrees: 50, Duplicates: 500, Malformed: 1, OtherBytes: map[string]int64{ledger.Metrics: 1000, ledger.Logs: 300},
	})
}

func TestTheWalkOverSpansInJSONAllocatesNothingPerSpan(t *testing.T) {
	sinktest.ExpectNoAllocations(t, jsonRequest(samples.Calls(1, 100, 10)...), newJSONWalks)
}

func TestAMessageInJSONIsNotKeptAliveByTheWalkOverIt(t *testing.T) {
	sinktest.ExpectNotKept(t, newJSONWalks)
}
