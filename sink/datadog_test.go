package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDatadogTracesAreCountedExactlyAndAnsweredWithTheRates(t *testing.T) {
	for name, format := range datadogFormats {
		t.Run(name, func(t *testing.T) {
			r := startDatadog(t)
			size := 0
			for i := range uint64(20) {
				message := format.write(traceList(i*50+1, 50, 10)...)
				size += len(message)
				code, _, body := r.put(format.path, message, tracerHeaders(50, 0, 0))
				var rates map[string]map[string]float64
				if err := json.Unmarshal([]byte(body), &rates); code != 200 || err != nil || rates["rate_by_service"]["service:,env:"] != 1 {
					t.Fatalf("answered %d %s", code, body)
				}
			}
			c := r.stop().Protocols["datadog"]
			if c.Requests != 20 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 || c.LastArrivalNs < c.FirstArrivalNs {
				t.Errorf("counted %+v", c)
			}
			expectCount(t, c, protocolCount{Records: 10_000, CompleteTrees: 1000})
		})
	}
}

func TestVersion3IsTakenByPostAndAnsweredPlainly(t *testing.T) {
	r := startDatadog(t)
	body := compressed("gzip", mappedTraces(traceList(1, 3, 10)...))
	if code, _, text := r.post("/v0.3/traces", msgpackMedia, "gzip", bytes.NewReader(body)); code != 200 || text != "OK\n" {
		t.Errorf("answered %d %q", code, text)
	}
	expectCount(t, r.stop().Protocols["datadog"], protocolCount{Records: 30, CompleteTrees: 3})
}

func TestWhatATracerDroppedStandsInAHeader(t *testing.T) {
	r := startDatadog(t)
	r.put("/v0.4/traces", mappedTraces(traceList(1, 2, 10)...), tracerHeaders(2, 7, 70))
	r.put("/v0.4/traces", mappedTraces(traceList(3, 1, 10)...), tracerHeaders(1, 1, 10))
	expectCount(t, r.stop().Protocols["datadog"], protocolCount{Records: 30, CompleteTrees: 3, ReportedDrops: 80})
}

func TestDropsThatAreToldWithAMessageThatIsNotTakenCount(t *testing.T) {
	r := startDatadog(t)
	whole := mappedTraces(traceList(1, 1, 10)...)
	encoded := tracerHeaders(1, 7, 70)
	encoded["Content-Encoding"] = "br"
	for _, sent := range []struct {
		body    []byte
		headers map[string]string
	}{{whole, encoded}, {whole[:len(whole)-1], tracerHeaders(1, 3, 30)}} {
		code, state, _ := r.put("/v0.4/traces", sent.body, sent.headers)
		if code != 400 || state != datadogState {
			t.Errorf("answered %d with the state %q", code, state)
		}
	}
	if c := r.stop().Protocols["datadog"]; c.Malformed != 2 || c.ReportedDrops != 100 {
		t.Errorf("counted %+v", c)
	}
}

func TestDropsCountInThePhaseInWhichTheyAreTold(t *testing.T) {
	r := startDatadog(t)
	r.put("/v0.4/traces", mappedTraces(traceList(1, 1, 10)...), tracerHeaders(1, 2, 20))
	var warm report
	r.ask("phase measured", &warm)
	r.put("/v0.4/traces", mappedTraces(traceList(2, 1, 10)...), tracerHeaders(1, 3, 30))
	if got := warm.Protocols["datadog"].ReportedDrops; got != 20 {
		t.Errorf("%d drops in the first phase", got)
	}
	if got := r.stop().Protocols["datadog"].ReportedDrops; got != 30 {
		t.Errorf("%d drops in the second phase", got)
	}
}

func TestAMessageWithAnotherNumberOfTracesThanItsHeaderSaysIsMalformed(t *testing.T) {
	r := startDatadog(t)
	message := mappedTraces(traceList(1, 2, 10)...)
	if code, _, _ := r.put("/v0.4/traces", message, tracerHeaders(3, 0, 0)); code != 400 {
		t.Errorf("answered %d", code)
	}
	if code, _, _ := r.put("/v0.4/traces", message, map[string]string{"X-Datadog-Trace-Count": "two"}); code != 400 {
		t.Errorf("no number: answered %d", code)
	}
	expectCount(t, r.stop().Protocols["datadog"], protocolCount{Records: 20, CompleteTrees: 2, Duplicates: 20, Malformed: 2})
}

func TestATracerAsksOnlyOnceWhatTheReceiverIs(t *testing.T) {
	r := startDatadog(t)
	reply, err := http.Get(r.url("/info"))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var info struct {
		Endpoints []string
		Drop      bool `json:"client_drop_p0s"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&info); err != nil || !info.Drop {
		t.Errorf("%+v: %v", info, err)
	}
	for _, path := range info.Endpoints {
		if code, _, text := r.put(path, []byte{mpArray | 2, mpArray, mpArray}, nil); code != 200 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if !slices.Contains(info.Endpoints, "/v0.4/traces") || !slices.Contains(info.Endpoints, "/v0.5/traces") {
		t.Errorf("offered %v", info.Endpoints)
	}
	_, state, _ := r.put("/v0.4/traces", mappedTraces(), nil)
	if told := reply.Header.Get("Datadog-Agent-State"); state != told || len(state) != 64 {
		t.Errorf("the state is %q, then %q", told, state)
	}
	c := r.stop().Protocols["datadog"]
	c.OtherBytes = nil
	expectCount(t, c, protocolCount{})
}

func TestWhatIsNoTraceIsAnsweredAndItsBytesCounted(t *testing.T) {
	r := startDatadog(t)
	for path, size := range map[string]int{"/v0.6/stats": 100, "/v0.7/config": 30, "/telemetry/proxy/api/v2/apmtelemetry": 1000} {
		if code, _, body := r.post(path, jsonMedia, "", io.LimitReader(endless{}, int64(size))); code != 200 || body != "{}" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _, _ := r.post("/profiling/v1/input", jsonMedia, "", nil); code != 404 {
		t.Errorf("profiles: %d", code)
	}
	expectCount(t, r.stop().Protocols["datadog"], protocolCount{
		OtherBytes: map[string]int64{metrics: 0, datadogStats: 100, datadogConfig: 30, datadogTelemetry: 1000},
	})
}

func TestATracersMetricsComeAsDatagramsAndTheirBytesAreCounted(t *testing.T) {
	r := startDatadog(t)
	send, gauge := r.udp("datadog"), []byte("jvm.heap_memory:1234|g|#service:tracetax\n")
	for range 10 {
		send(gauge)
	}
	sum := int64(0)
	for deadline := time.Now().Add(20 * time.Second); sum < int64(10*len(gauge)) && time.Now().Before(deadline); {
		var closed report
		r.ask("phase next", &closed)
		sum += closed.Protocols["datadog"].OtherBytes[metrics]
	}
	if r.stop(); sum != int64(10*len(gauge)) {
		t.Errorf("%d bytes", sum)
	}
}

func TestDatadogTurnsAwayWhatItDoesNotUnderstand(t *testing.T) {
	for name, format := range datadogFormats {
		t.Run(name, func(t *testing.T) {
			r := startDatadog(t)
			if code, _, _ := r.post(format.path, jsonMedia, "", strings.NewReader("[]")); code != 415 {
				t.Errorf("JSON: %d", code)
			}
			whole := format.write(traceList(1, 2, 10)...)
			for _, body := range [][]byte{whole[:len(whole)-1], append(slices.Clone(whole), 0), {0x01}, {}} {
				if code, _, _ := r.put(format.path, body, nil); code != 400 {
					t.Errorf("%d bytes: %d", len(body), code)
				}
			}
			c := r.stop().Protocols["datadog"]
			if c.Malformed != 5 || c.Records != 20 || c.Duplicates < 18 {
				t.Errorf("counted %+v", c)
			}
		})
	}
}

func TestASenderThatLeavesCutsItsMessageOff(t *testing.T) {
	r := startDatadog(t)
	conn := r.dial("datadog")
	fmt.Fprintf(conn, "PUT /v0.4/traces HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000\r\n"+
		"Datadog-Client-Dropped-P0-Spans: 10\r\n\r\nabc", msgpackMedia)
	conn.Close()
	r.await("ended", func(c counts) bool { return c.Bytes == 3 && c.OpenConnections == 0 })
	expectCount(t, r.stop().Protocols["datadog"], protocolCount{CutOff: 1})
}

func TestSpansOfOtherMethodsAreUnexpectedUnderTheirResource(t *testing.T) {
	for name, format := range datadogFormats {
		t.Run(name, func(t *testing.T) {
			trace := append(callSpans(1, 3), span{trace: 1, id: 99, name: "MonitoredClass.other"})
			expectCount(t, countDatadog(3, format.read, format.write(trace)), protocolCount{
				Records: 3, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"MonitoredClass.other": 1},
			})
		})
	}
}

func TestDatadogTreesAreCheckedByTheirParents(t *testing.T) {
	for name, format := range datadogFormats {
		t.Run(name, func(t *testing.T) {
			inAnyOrder := callSpans(1, 3)
			slices.Reverse(inAnyOrder)
			inAnyOrder[0], inAnyOrder[2] = inAnyOrder[2], inAnyOrder[0]
			twoRoots := callSpans(2, 3)
			twoRoots[1].parent = 0
			lost := callSpans(3, 3)
			backwards := callSpans(4, 3)
			backwards[1].start, backwards[1].end = 5, 4
			nowhere := callSpans(5, 3)
			nowhere[0].parent = 1234
			message := format.write(inAnyOrder, twoRoots, append(lost[:1:1], lost[2]), backwards, nowhere)
			expectCount(t, countDatadog(3, format.read, message), protocolCount{
				Records: 14, CompleteTrees: 1, PartialTrees: 4, Orphans: 2, EndBeforeStart: 1,
			})
		})
	}
}

func TestASpanWithoutIdsIsMalformed(t *testing.T) {
	for name, format := range datadogFormats {
		t.Run(name, func(t *testing.T) {
			message := format.write([]span{{trace: 1}}, []span{{id: 1}}, callSpans(2, 1))
			expectCount(t, countDatadog(1, format.read, message), protocolCount{Records: 1, CompleteTrees: 1, Malformed: 2})
		})
	}
}

func TestIdsFillAllBits(t *testing.T) {
	high := uint64(1)<<63 | 5
	trace := []span{{trace: high, id: high}, {trace: high, id: 7, parent: high}}
	slices.Reverse(trace)
	expectCount(t, countDatadog(2, (*datadogWalk).mapped, mappedTraces(trace)), protocolCount{Records: 2, CompleteTrees: 1})
}

func TestAMessageWithTooManyStringsIsMalformed(t *testing.T) {
	var w msgpackWriter
	w.array(2)
	w.data = append(w.data, mpArray32, 0, 1, 0, 1)
	w.data = append(w.data, bytes.Repeat([]byte{mpText}, maxTableStrings+1)...)
	w.array(0)
	expectCount(t, countDatadog(1, (*datadogWalk).listed, w.data), protocolCount{Malformed: 1})
}

func TestASpanThatNamesAStringThatIsNotThereHasNoName(t *testing.T) {
	message := listedTraces(callSpans(1, 1))
	at := bytes.Index(message, []byte{mpArray | 12, 1, 2, 3})
	message[at+3] = 100
	expectCount(t, countDatadog(1, (*datadogWalk).listed, message), protocolCount{
		UnexpectedNames: 1, Unexpected: map[string]int64{"": 1},
	})
}

func TestDatadogSpansAllocateNothing(t *testing.T) {
	for name, format := range datadogFormats {
		t.Run(name, func(t *testing.T) {
			message := format.write(traceList(1, 100, 10)...)
			l := newLedger(newTreeTable(&outerFirst{}, 10, 1000, 8<<20), datadog.signals)
			w := newDatadogWalks(testSpan, l, format.read).Get().(*walk)
			count := func() {
				w.headers(http.Header{})
				if err := w.message(message); err != nil {
					t.Fatal(err)
				}
				l.apply(w.batch)
			}
			count()
			if allocations := testing.AllocsPerRun(20, count); allocations > 1 {
				t.Errorf("%v allocations for 1000 spans", allocations)
			}
		})
	}
}
