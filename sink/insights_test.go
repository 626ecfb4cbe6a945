package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// insightsItem is what the agent sends of a span: the outermost one as a request, the others as dependencies.
func insightsItem(s span) string {
	if s.name == "" {
		s.name = testSpan
	}
	item, kind, parent := "RemoteDependency", `"type":"InProc",`, fmt.Sprintf(`,"ai.operation.parentId":"%016x"`, s.parent)
	if s.parent == 0 {
		item, kind, parent = "Request", `"responseCode":"0",`, ""
	}
	return fmt.Sprintf(`{"ver":1,"name":%q,"time":"2026-11-21T21:40:18.004Z","iKey":"00000000-0000-0000-0000-000000000001",`+
		`"tags":{"ai.internal.sdkVersion":"java:3.5.3","ai.operation.id":"%s","ai.cloud.roleInstance":"host",`+
		`"ai.operation.name":"MonitoredClass.monitoredMethod","ai.cloud.role":"tracetax"%s},"data":{"baseType":"%sData",`+
		`"baseData":{"ver":2,"id":"%016x","name":%q,%s"duration":"00:00:00.000057","success":true}}}`+"\n",
		item, hexTrace(s), parent, item, s.id, s.name, kind)
}

const insightsMetric = `{"ver":1,"name":"Metric","time":"2026-11-21T21:40:26.763Z","iKey":"x","tags":{"ai.cloud.role":"tracetax"},` +
	`"data":{"baseType":"MetricData","baseData":{"ver":2,"metrics":[{"name":"Current Thread Count","value":27.0}]}}}` + "\n"

func insightsItems(spans ...span) []byte {
	var items strings.Builder
	for _, s := range spans {
		items.WriteString(insightsItem(s))
	}
	return []byte(items.String())
}

func countInsights(depth int, messages ...[]byte) protocolCount {
	return countJSON(depth, newInsightsWalks, messages...)
}

func startInsights(t *testing.T) *running {
	t.Helper()
	return start(t, "--protocols", "app-insights", "--depth", "10", "--record-name", testSpan)
}

func TestInsightsItemsAreCountedExactlyAndAccepted(t *testing.T) {
	r := startInsights(t)
	size := 0
	for i := range uint64(20) {
		body := compressed("gzip", insightsItems(calls(i*50+1, 50, 10)...))
		size += len(body)
		code, _, text := r.post("/v2.1/track", "application/x-json-stream", "gzip", bytes.NewReader(body))
		if code != 200 || text != insightsAccepted {
			t.Fatalf("answered %d %q", code, text)
		}
	}
	c := r.stop().Protocols["app-insights"]
	if c.Requests != 20 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 {
		t.Errorf("counted %+v", c)
	}
	expectCount(t, c, protocolCount{Records: 10_000, CompleteTrees: 1000})
}

func TestInsightsSpansOfOtherMethodsAreUnexpected(t *testing.T) {
	items := insightsItems(append(callSpans(1, 3), span{trace: 1, id: 9, parent: 1, name: "GET /"})...)
	expectCount(t, countInsights(3, items), protocolCount{
		Records: 3, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"GET /": 1},
	})
}

func TestInsightsItemsWithoutIdsAreMalformedAndGarbledOnesToo(t *testing.T) {
	nowhere := strings.Replace(insightsItem(span{trace: 2, id: 3}), `"ai.operation.id"`, `"x"`, 1)
	expectCount(t, countInsights(3, append(insightsItems(callSpans(1, 3)...), nowhere...)), protocolCount{
		Records: 3, CompleteTrees: 1, Malformed: 1,
	})
	whole := insightsItems(callSpans(1, 3)...)
	expectCount(t, countInsights(3, whole[:len(whole)-9]), protocolCount{Records: 2, PartialTrees: 1, Orphans: 1, Malformed: 1})
	expectCount(t, countInsights(3, append([]byte("[]"), whole...)), protocolCount{Malformed: 1})
}

func TestInsightsOtherTelemetryIsAnsweredAndItsBytesCounted(t *testing.T) {
	r := startInsights(t)
	for range 3 {
		if code, _, _ := r.post("/v2.1/track", "application/x-json-stream", "", strings.NewReader(insightsMetric)); code != 200 {
			t.Errorf("metric: %d", code)
		}
	}
	if code, _, _ := r.post("/QuickPulseService.svc/ping", jsonMedia, "", strings.NewReader("{}")); code != 200 {
		t.Errorf("live metrics: %d", code)
	}
	reply, err := http.Get(r.url("/api/profiles/the-key/appId"))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if name, _ := io.ReadAll(reply.Body); string(name) != "the-key" {
		t.Errorf("the application is %q", name)
	}
	if code, _, _ := r.post("/v2/other", jsonMedia, "", nil); code != 404 {
		t.Errorf("other: %d", code)
	}
	c := r.stop().Protocols["app-insights"]
	if c.Requests != 0 {
		t.Errorf("%d requests", c.Requests)
	}
	expectCount(t, c, protocolCount{OtherBytes: map[string]int64{metrics: 3 * int64(len(insightsMetric)), insightsLive: 2}})
}

func FuzzInsights(f *testing.F) {
	f.Add(insightsItems(callSpans(1, 3)...))
	f.Add(append(insightsItems(span{trace: 1, id: 2, name: "other"}, span{trace: 1, id: 1, parent: 2}), insightsMetric...))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := countInsights(3, data)
		checkTrees(t, 3, once)
		if most := int64(bytes.Count(data, []byte("{"))); once.Records+once.Duplicates+once.UnexpectedNames > most {
			t.Fatalf("%q is %+v", data, once)
		}
		twice := countInsights(3, data, data)
		if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
			t.Fatalf("once %+v, twice %+v", once, twice)
		}
	})
}
