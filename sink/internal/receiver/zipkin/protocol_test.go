package zipkin

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

func TestZipkinSpansAreCountedExactlyAndAccepted(t *testing.T) {
	r := start(t)
	size := 0
	for i := range uint64(20) {
		list := listOf(samples.Calls(i*50+1, 50, 10)...)
		encoding := []string{"", "gzip", "deflate"}[i%3]
		if encoding != "" {
			list = samples.Compressed(encoding, list)
		}
		size += len(list)
		if code, _, body := r.Post("/api/v2/spans", httpserver.JSON, encoding, bytes.NewReader(list)); code != 202 || body != "" {
			t.Fatalf("answered %d %q", code, body)
		}
	}
	c := r.Stop().Protocols["zipkin"]
	if c.Requests != 20 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 || c.LastArrivalNs < c.FirstArrivalNs {
		t.Errorf("counted %+v", c)
	}
	samples.ExpectCount(t, c, account.Account{Records: 10_000, CompleteTrees: 1000})
}

func TestZipkinNamesAreComparedWithoutCase(t *testing.T) {
	spans := samples.CallSpans(1, 3)
	spans[0].Name, spans[1].Name = samples.SpanName, strings.ToUpper(samples.SpanName)
	other := samples.Span{Trace: 1, ID: 99, Name: "Other"}
	samples.ExpectCount(t, count(3, listOf(append(spans, other)...)), account.Account{
		Records: 3, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"other": 1},
	})
	// The Kelvin sign is no K, though Unicode folds it to one.
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 1, 10, 1<<20), nil)
	w := newWalks("K", l).Get().(*httpserver.Walk)
	if err := w.Message(listOf(samples.Span{Trace: 1, ID: 1, Name: "\u212a"}, samples.Span{Trace: 2, ID: 1, Name: "k"})); err != nil {
		t.Fatal(err)
	}
	l.Apply(w.Batch)
	if c := l.Close(); c.Records != 1 || c.UnexpectedNames != 1 {
		t.Errorf("%+v", c)
	}
}

func TestZipkinTraceIdsMayBeShort(t *testing.T) {
	list := strings.ReplaceAll(string(listOf(samples.CallSpans(7, 3)...)), strings.Repeat("0", 16)+samples.HexID(7), samples.HexID(7))
	samples.ExpectCount(t, count(3, []byte(list), listOf(samples.CallSpans(7, 3)...)),
		account.Account{Records: 3, CompleteTrees: 1, Duplicates: 3})
}

func TestZipkinTimesSayNothing(t *testing.T) {
	list := strings.ReplaceAll(string(listOf(samples.CallSpans(1, 3)...)), `"duration":1`, `"duration":-1`)
	samples.ExpectCount(t, count(3, []byte(list)), account.Account{Records: 3, CompleteTrees: 1})
}

func TestAZipkinSpanWithoutValidIdsIsMalformed(t *testing.T) {
	list := strings.ReplaceAll(string(listOf(append(samples.Calls(1, 1, 3), samples.Span{Trace: 2, ID: 5}, samples.Span{Trace: 2, ID: 6})...)), `"id":"0000000000000005"`, `"id":5`)
	samples.ExpectCount(t, count(3, []byte(list)),
		account.Account{Records: 4, CompleteTrees: 1, PartialTrees: 1, Malformed: 1})
}

func TestATruncatedZipkinListIsMalformedAndItsWholeSpansCount(t *testing.T) {
	list := listOf(samples.CallSpans(1, 3)...)
	last := bytes.LastIndex(list, []byte(`{"traceId"`))
	for cut := range len(list) {
		if c := count(3, list[:cut]); c.Malformed != 1 || c.UnexpectedNames != 0 || cut > last && c.Records < 2 {
			t.Fatalf("cut at %d: %+v", cut, c)
		}
	}
}

func TestGarbageIsNoZipkinList(t *testing.T) {
	for _, garbage := range []string{"", "x", "{}", "null", `"[]"`, "[", "[]]", "[{]", "\x1f\x8b", "[\x00]", strings.Repeat("[", 10_000)} {
		if c := count(3, []byte(garbage)); c.Malformed != 1 || c.Records != 0 {
			t.Errorf("%.20q: %+v", garbage, c)
		}
	}
	samples.ExpectCount(t, count(3, []byte(" [ ] ")), account.Account{})
}

func TestZipkinTurnsAwayWhatItDoesNotUnderstand(t *testing.T) {
	r := start(t, "--max-memory", fmt.Sprint(bounds.LeastMemory))
	for _, c := range []struct {
		media, encoding string
		body            io.Reader
		status          int
	}{
		{"application/x-protobuf", "", strings.NewReader("x"), 415},
		{httpserver.JSON, "brotli", strings.NewReader("[]"), 400},
		{httpserver.JSON, "gzip", strings.NewReader("[]"), 400},
		{httpserver.JSON, "", strings.NewReader("[{]"), 400},
		{httpserver.JSON, "", io.LimitReader(samples.Endless{}, bounds.LeastMemory), 413},
		{httpserver.JSON, "gzip", bytes.NewReader(samples.Compressed("gzip", make([]byte, 4*bounds.LeastMemory))), 413},
	} {
		if code, _, _ := r.Post("/api/v2/spans", c.media, c.encoding, c.body); code != c.status {
			t.Errorf("%s %s: answered %d, not %d", c.media, c.encoding, code, c.status)
		}
	}
	if code, _, _ := r.Post("/api/v1/spans", httpserver.JSON, "", strings.NewReader("[]")); code != 404 {
		t.Errorf("version 1: answered %d", code)
	}
	samples.ExpectCount(t, r.Stop().Protocols["zipkin"], account.Account{Malformed: 6})
}

func TestAZipkinListWhoseSenderLeavesIsCutOff(t *testing.T) {
	r := start(t)
	conn := r.Dial("zipkin")
	fmt.Fprintf(conn, "POST /api/v2/spans HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000\r\n\r\n[{}", httpserver.JSON)
	conn.Close()
	r.Await("ended", func(c sink.Counts) bool { return c.Bytes == 3 && c.OpenConnections == 0 })
	samples.ExpectCount(t, r.Stop().Protocols["zipkin"], account.Account{CutOff: 1})
}

func TestZipkinIsHealthy(t *testing.T) {
	r := start(t)
	reply, err := http.Get(r.URL("/health"))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != 200 {
		t.Errorf("answered %d", reply.StatusCode)
	}
}

func TestTheWalkOverZipkinsListsAllocatesNothingPerSpan(t *testing.T) {
	sinktest.ExpectNoAllocations(t, listOf(samples.Calls(1, 100, 10)...), newWalks)
}

func TestAZipkinListIsNotKeptAliveByTheWalkOverIt(t *testing.T) {
	sinktest.ExpectNotKept(t, newWalks)
}
