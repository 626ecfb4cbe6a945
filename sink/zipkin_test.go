package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"
)

func startZipkin(t *testing.T, arguments ...string) *running {
	t.Helper()
	return start(t, append([]string{"--protocols", "zipkin", "--depth", "10", "--record-name", testSpan}, arguments...)...)
}

func TestZipkinSpansAreCountedExactlyAndAccepted(t *testing.T) {
	r := startZipkin(t)
	size := 0
	for i := range uint64(20) {
		list := zipkinList(calls(i*50+1, 50, 10)...)
		encoding := []string{"", "gzip", "deflate"}[i%3]
		if encoding != "" {
			list = compressed(encoding, list)
		}
		size += len(list)
		if code, _, body := r.post("/api/v2/spans", jsonMedia, encoding, bytes.NewReader(list)); code != 202 || body != "" {
			t.Fatalf("answered %d %q", code, body)
		}
	}
	c := r.stop().Protocols["zipkin"]
	if c.Requests != 20 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 || c.LastArrivalNs < c.FirstArrivalNs {
		t.Errorf("counted %+v", c)
	}
	expectCount(t, c, protocolCount{Records: 10_000, CompleteTrees: 1000})
}

func TestZipkinNamesAreComparedWithoutCase(t *testing.T) {
	spans := callSpans(1, 3)
	spans[0].name, spans[1].name = testSpan, strings.ToUpper(testSpan)
	other := span{trace: 1, id: 99, name: "Other"}
	expectCount(t, countZipkin(3, zipkinList(append(spans, other)...)), protocolCount{
		Records: 3, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"other": 1},
	})
	// The Kelvin sign is no K, though Unicode folds it to one.
	l := newLedger(newTreeTable(&spanChain{}, 1, 10, 1<<20), nil)
	w := newZipkinWalks("K", l).Get().(*walk)
	if err := w.message(zipkinList(span{trace: 1, id: 1, name: "\u212a"}, span{trace: 2, id: 1, name: "k"})); err != nil {
		t.Fatal(err)
	}
	l.apply(w.batch)
	if c := l.close(); c.Records != 1 || c.UnexpectedNames != 1 {
		t.Errorf("%+v", c)
	}
}

func TestZipkinTraceIdsMayBeShort(t *testing.T) {
	list := strings.ReplaceAll(string(zipkinList(callSpans(7, 3)...)), strings.Repeat("0", 16)+hexID(7), hexID(7))
	expectCount(t, countZipkin(3, []byte(list), zipkinList(callSpans(7, 3)...)),
		protocolCount{Records: 3, CompleteTrees: 1, Duplicates: 3})
}

func TestZipkinTimesSayNothing(t *testing.T) {
	list := strings.ReplaceAll(string(zipkinList(callSpans(1, 3)...)), `"duration":1`, `"duration":-1`)
	expectCount(t, countZipkin(3, []byte(list)), protocolCount{Records: 3, CompleteTrees: 1})
}

func TestAZipkinSpanWithoutValidIdsIsMalformed(t *testing.T) {
	list := strings.ReplaceAll(string(zipkinList(append(calls(1, 1, 3), span{trace: 2, id: 5}, span{trace: 2, id: 6})...)), `"id":"0000000000000005"`, `"id":5`)
	expectCount(t, countZipkin(3, []byte(list)),
		protocolCount{Records: 4, CompleteTrees: 1, PartialTrees: 1, Malformed: 1})
}

func TestATruncatedZipkinListIsMalformedAndItsWholeSpansCount(t *testing.T) {
	list := zipkinList(callSpans(1, 3)...)
	last := bytes.LastIndex(list, []byte(`{"traceId"`))
	for cut := range len(list) {
		if c := countZipkin(3, list[:cut]); c.Malformed != 1 || c.UnexpectedNames != 0 || cut > last && c.Records < 2 {
			t.Fatalf("cut at %d: %+v", cut, c)
		}
	}
}

func TestGarbageIsNoZipkinList(t *testing.T) {
	for _, garbage := range []string{"", "x", "{}", "null", `"[]"`, "[", "[]]", "[{]", "\x1f\x8b", "[\x00]", strings.Repeat("[", 10_000)} {
		if c := countZipkin(3, []byte(garbage)); c.Malformed != 1 || c.Records != 0 {
			t.Errorf("%.20q: %+v", garbage, c)
		}
	}
	expectCount(t, countZipkin(3, []byte(" [ ] ")), protocolCount{})
}

func TestZipkinTurnsAwayWhatItDoesNotUnderstand(t *testing.T) {
	r := startZipkin(t, "--max-memory", fmt.Sprint(minMaxMemory))
	for _, c := range []struct {
		media, encoding string
		body            io.Reader
		status          int
	}{
		{protobufMedia, "", strings.NewReader("x"), 415},
		{jsonMedia, "brotli", strings.NewReader("[]"), 400},
		{jsonMedia, "gzip", strings.NewReader("[]"), 400},
		{jsonMedia, "", strings.NewReader("[{]"), 400},
		{jsonMedia, "", io.LimitReader(endless{}, minMaxMemory), 413},
		{jsonMedia, "gzip", bytes.NewReader(compressed("gzip", make([]byte, 4*minMaxMemory))), 413},
	} {
		if code, _, _ := r.post("/api/v2/spans", c.media, c.encoding, c.body); code != c.status {
			t.Errorf("%s %s: answered %d, not %d", c.media, c.encoding, code, c.status)
		}
	}
	if code, _, _ := r.post("/api/v1/spans", jsonMedia, "", strings.NewReader("[]")); code != 404 {
		t.Errorf("version 1: answered %d", code)
	}
	expectCount(t, r.stop().Protocols["zipkin"], protocolCount{Malformed: 6})
}

func TestAZipkinListWhoseSenderLeavesIsCutOff(t *testing.T) {
	r := startZipkin(t)
	conn := r.dial("zipkin")
	fmt.Fprintf(conn, "POST /api/v2/spans HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\n[{}", jsonMedia)
	conn.Close()
	r.await("ended", func(c counts) bool { return c.Bytes == 3 && c.OpenConnections == 0 })
	expectCount(t, r.stop().Protocols["zipkin"], protocolCount{CutOff: 1})
}

func TestZipkinIsHealthy(t *testing.T) {
	r := startZipkin(t)
	reply, err := http.Get(r.url("/health"))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != 200 {
		t.Errorf("answered %d", reply.StatusCode)
	}
}

func TestWalksOverJSONAllocateNothingPerSpan(t *testing.T) {
	for name, c := range map[string]struct {
		message []byte
		walks   func(string, *ledger) *sync.Pool
	}{
		"zipkin": {zipkinList(calls(1, 100, 10)...), newZipkinWalks},
		"otlp":   {otlpJSON(calls(1, 100, 10)...), newOTLPJSONWalks},
	} {
		l := newLedger(newTreeTable(&spanChain{}, 10, 1000, 8<<20), otlpSignals)
		w := c.walks(testSpan, l).Get().(*walk)
		count := func() {
			if err := w.message(c.message); err != nil {
				t.Fatal(err)
			}
			l.apply(w.batch)
		}
		count()
		if allocations := testing.AllocsPerRun(20, count); allocations > 5 {
			t.Errorf("%s: %v allocations for 1000 spans", name, allocations)
		}
	}
}

func TestAMessageIsNotKeptAliveByTheWalkOverIt(t *testing.T) {
	for name, walks := range map[string]func(string, *ledger) *sync.Pool{"zipkin": newZipkinWalks, "otlp": newOTLPJSONWalks} {
		w := walks(testSpan, newLedger(newTreeTable(&spanChain{}, 10, 100, 8<<20), nil)).Get().(*walk)
		message := bytes.Repeat([]byte(" "), 1<<20)
		alive := weak.Make(&message[0])
		_ = w.message(message)
		runtime.GC()
		if alive.Value() != nil {
			t.Errorf("%s: it is", name)
		}
		runtime.KeepAlive(w)
	}
}
