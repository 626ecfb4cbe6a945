package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestEverySpanInJSONIsCountedExactly(t *testing.T) {
	expectCount(t, countOTLPJSON(10, otlpJSON(calls(1, 500, 10)...)), protocolCount{Records: 5000, CompleteTrees: 500})
}

func TestJSONAndProtobufGiveTheSameAccount(t *testing.T) {
	spans := append(calls(1, 20, 10), span{trace: 1, id: 99, name: "other"}, span{trace: 3, id: 7, parent: 6, start: 9, end: 1},
		span{trace: 4, id: 0}, span{trace: 0, id: 4}, calls(5, 1, 10)[2])
	expectCount(t, countOTLPJSON(10, otlpJSON(spans...)), countSpans(10, exportRequest(spans...)))
}

func TestTheOrderOfKeysAndWhatIsUnknownDoNotMatter(t *testing.T) {
	text := `{"x":[{"spans":[1]}],"resourceSpans":[{"scopeSpans":null},{"scopeSpans":[{"spans":[` +
		`{"name":"MonitoredClass.\u006donitoredMethod","endTimeUnixNano":2,"startTimeUnixNano":"1","parentSpanId":null,` +
		`"spanId":"00000000000000AB","events":[{"name":"x","traceId":"1"}],"traceId":"000000000000000000000000000000cd"}` +
		`],"schemaUrl":""}]}]}`
	expectCount(t, countOTLPJSON(1, []byte(text)), protocolCount{Records: 1, CompleteTrees: 1})
}

func TestACutRequestInJSONIsMalformedAndItsWholeSpansCount(t *testing.T) {
	text := otlpJSON(callSpans(1, 3)...)
	last := bytes.LastIndex(text, []byte(`{"traceId"`))
	step := 1
	if testing.Short() { // so with the race detector, which makes each count slow and finds nothing in one goroutine
		step = 50
	}
	for cut := 0; cut < len(text); cut += step {
		c := countOTLPJSON(3, text[:cut])
		if c.Malformed != 1 || c.UnexpectedNames != 0 || cut > last && c.Records < 2 {
			t.Fatalf("cut at %d: %+v", cut, c)
		}
	}
}

func TestOTLPOverHTTPInJSONIsAnsweredInJSON(t *testing.T) {
	r := startHTTP(t)
	text := otlpJSON(calls(1, 50, 10)...)
	for encoding := range compressions {
		if code, media, body := r.post("/v1/traces", "application/json; charset=utf-8", encoding, bytes.NewReader(compressed(encoding, text))); code != 200 || media != jsonMedia || body != "{}" {
			t.Errorf("%s: %d %s %q", encoding, code, media, body)
		}
	}
	for path, size := range map[string]int{"/v1/metrics": 1000, "/v1/logs": 300} {
		if code, media, body := r.post(path, jsonMedia, "", bytes.NewReader(make([]byte, size))); code != 200 || media != jsonMedia || body != "{}" {
			t.Errorf("%s: %d %s %q", path, code, media, body)
		}
	}
	if code, _, _ := r.post("/v1/traces", jsonMedia, "", strings.NewReader(`[]`)); code != 400 {
		t.Errorf("no request: %d", code)
	}
	expectCount(t, r.stop().Protocols["otlp-http"], protocolCount{
		Records: 500, CompleteTrees: 50, Duplicates: 500, Malformed: 1, OtherBytes: map[string]int64{metrics: 1000, logs: 300},
	})
}
