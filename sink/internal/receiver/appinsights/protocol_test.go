package appinsights

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
)

func TestInsightsItemsAreCountedExactlyAndAccepted(t *testing.T) {
	r := start(t)
	size := 0
	for i := range uint64(20) {
		body := samples.Compressed("gzip", itemsOf(samples.Calls(i*50+1, 50, 10)...))
		size += len(body)
		code, _, text := r.Post("/v2.1/track", "application/x-json-stream", "gzip", bytes.NewReader(body))
		if code != 200 || text != accepted {
			t.Fatalf("answered %d %q", code, text)
		}
	}
	c := r.Stop().Protocols["app-insights"]
	if c.Requests != 20 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 {
		t.Errorf("counted %+v", c)
	}
	samples.ExpectCount(t, c, account.Account{Records: 10_000, CompleteTrees: 1000})
}

func TestInsightsSpansOfOtherMethodsAreUnexpected(t *testing.T) {
	items := itemsOf(append(samples.CallSpans(1, 3), samples.Span{Trace: 1, ID: 9, Parent: 1, Name: "GET /"})...)
	samples.ExpectCount(t, count(3, items), account.Account{
		Records: 3, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"GET /": 1},
	})
}

func TestInsightsItemsWithoutIdsAreMalformedAndGarbledOnesToo(t *testing.T) {
	nowhere := strings.Replace(itemOf(samples.Span{Trace: 2, ID: 3}), `"ai.operation.id"`, `"x"`, 1)
	samples.ExpectCount(t, count(3, append(itemsOf(samples.CallSpans(1, 3)...), nowhere...)), account.Account{
		Records: 3, CompleteTrees: 1, Malformed: 1,
	})
	whole := itemsOf(samples.CallSpans(1, 3)...)
	samples.ExpectCount(t, count(3, whole[:len(whole)-9]), account.Account{Records: 2, PartialTrees: 1, Orphans: 1, Malformed: 1})
	samples.ExpectCount(t, count(3, append([]byte("[]"), whole...)), account.Account{Malformed: 1})
}

func TestInsightsOtherTelemetryIsAnsweredAndItsBytesCounted(t *testing.T) {
	r := start(t)
	for range 3 {
		if code, _, _ := r.Post("/v2.1/track", "application/x-json-stream", "", strings.NewReader(metricItem)); code != 200 {
			t.Errorf("metric: %d", code)
		}
	}
	if code, _, _ := r.Post("/QuickPulseService.svc/ping", httpserver.JSON, "", strings.NewReader("{}")); code != 200 {
		t.Errorf("live metrics: %d", code)
	}
	reply, err := http.Get(r.URL("/api/profiles/the-key/appId"))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if name, _ := io.ReadAll(reply.Body); string(name) != "the-key" {
		t.Errorf("the application is %q", name)
	}
	if code, _, _ := r.Post("/v2/other", httpserver.JSON, "", nil); code != 404 {
		t.Errorf("other: %d", code)
	}
	c := r.Stop().Protocols["app-insights"]
	if c.Requests != 0 {
		t.Errorf("%d requests", c.Requests)
	}
	samples.ExpectCount(t, c, account.Account{OtherBytes: map[string]int64{ledger.Metrics: 3 * int64(len(metricItem)), liveMetrics: 2}})
}
