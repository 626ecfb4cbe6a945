package datadog

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

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/tree"
)

func TestDatadogTracesAreCountedExactlyAndAnsweredWithTheRates(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			size := 0
			for i := range uint64(20) {
				message := format.write(traceList(i*50+1, 50, 10)...)
				size += len(message)
				code, _, body := put(t, r, format.path, message, tracerHeaders(50, 0, 0))
				var rates map[string]map[string]float64
				if err := json.Unmarshal([]byte(body), &rates); code != 200 || err != nil || rates["rate_by_service"]["service:,env:"] != 1 {
					t.Fatalf("answered %d %s", code, body)
				}
			}
			c := r.Stop().Protocols["datadog"]
			if c.Requests != 20 || c.Bytes != int64(size) || c.FirstArrivalNs == 0 || c.LastArrivalNs < c.FirstArrivalNs {
				t.Errorf("counted %+v", c)
			}
			samples.ExpectCount(t, c, account.Account{Records: 10_000, CompleteTrees: 1000})
		})
	}
}

func TestVersion3IsTakenByPostAndAnsweredPlainly(t *testing.T) {
	r := start(t)
	body := samples.Compressed("gzip", mappedTraces(traceList(1, 3, 10)...))
	if code, _, text := r.Post("/v0.3/traces", msgpackMedia, "gzip", bytes.NewReader(body)); code != 200 || text != "OK\n" {
		t.Errorf("answered %d %q", code, text)
	}
	samples.ExpectCount(t, r.Stop().Protocols["datadog"], account.Account{Records: 30, CompleteTrees: 3})
}

func TestWhatATracerDroppedStandsInAHeader(t *testing.T) {
	r := start(t)
	put(t, r, "/v0.4/traces", mappedTraces(traceList(1, 2, 10)...), tracerHeaders(2, 7, 70))
	put(t, r, "/v0.4/traces", mappedTraces(traceList(3, 1, 10)...), tracerHeaders(1, 1, 10))
	samples.ExpectCount(t, r.Stop().Protocols["datadog"], account.Account{Records: 30, CompleteTrees: 3, ReportedDrops: 80})
}

func TestDropsThatAreToldWithAMessageThatIsNotTakenCount(t *testing.T) {
	r := start(t)
	whole := mappedTraces(traceList(1, 1, 10)...)
	encoded := tracerHeaders(1, 7, 70)
	encoded["Content-Encoding"] = "br"
	for _, sent := range []struct {
		body    []byte
		headers map[string]string
	}{{whole, encoded}, {whole[:len(whole)-1], tracerHeaders(1, 3, 30)}} {
		code, state, _ := put(t, r, "/v0.4/traces", sent.body, sent.headers)
		if code != 400 || state != infoHash {
			t.Errorf("answered %d with the state %q", code, state)
		}
	}
	if c := r.Stop().Protocols["datadog"]; c.Malformed != 2 || c.ReportedDrops != 100 {
		t.Errorf("counted %+v", c)
	}
}

func TestDropsCountInThePhaseInWhichTheyAreTold(t *testing.T) {
	r := start(t)
	put(t, r, "/v0.4/traces", mappedTraces(traceList(1, 1, 10)...), tracerHeaders(1, 2, 20))
	var warm sink.Report
	r.Ask("phase measured", &warm)
	put(t, r, "/v0.4/traces", mappedTraces(traceList(2, 1, 10)...), tracerHeaders(1, 3, 30))
	if got := warm.Protocols["datadog"].ReportedDrops; got != 20 {
		t.Errorf("%d drops in the first phase", got)
	}
	if got := r.Stop().Protocols["datadog"].ReportedDrops; got != 30 {
		t.Errorf("%d drops in the second phase", got)
	}
}

func TestAMessageWithAnotherNumberOfTracesThanItsHeaderSaysIsMalformed(t *testing.T) {
	r := start(t)
	message := mappedTraces(traceList(1, 2, 10)...)
	if code, _, _ := put(t, r, "/v0.4/traces", message, tracerHeaders(3, 0, 0)); code != 400 {
		t.Errorf("answered %d", code)
	}
	if code, _, _ := put(t, r, "/v0.4/traces", message, map[string]string{"X-Datadog-Trace-Count": "two"}); code != 400 {
		t.Errorf("no number: answered %d", code)
	}
	samples.ExpectCount(t, r.Stop().Protocols["datadog"], account.Account{Records: 20, CompleteTrees: 2, Duplicates: 20, Malformed: 2})
}

func TestATracerAsksOnlyOnceWhatTheReceiverIs(t *testing.T) {
	r := start(t)
	reply, err := http.Get(r.URL("/info"))
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
		if code, _, text := put(t, r, path, []byte{mpArray | 2, mpArray, mpArray}, nil); code != 200 {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if !slices.Contains(info.Endpoints, "/v0.4/traces") || !slices.Contains(info.Endpoints, "/v0.5/traces") {
		t.Errorf("offered %v", info.Endpoints)
	}
	_, state, _ := put(t, r, "/v0.4/traces", mappedTraces(), nil)
	if told := reply.Header.Get("Datadog-Agent-State"); state != told || len(state) != 64 {
		t.Errorf("the state is %q, then %q", told, state)
	}
	c := r.Stop().Protocols["datadog"]
	c.OtherBytes = nil
	samples.ExpectCount(t, c, account.Account{})
}

func TestWhatIsNoTraceIsAnsweredAndItsBytesCounted(t *testing.T) {
	r := start(t)
	for path, size := range map[string]int{"/v0.6/stats": 100, "/v0.7/config": 30, "/telemetry/proxy/api/v2/apmtelemetry": 1000} {
		if code, _, body := r.Post(path, httpserver.JSON, "", io.LimitReader(samples.Endless{}, int64(size))); code != 200 || body != "{}" {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, _, _ := r.Post("/profiling/v1/input", httpserver.JSON, "", nil); code != 404 {
		t.Errorf("profiles: %d", code)
	}
	samples.ExpectCount(t, r.Stop().Protocols["datadog"], account.Account{
		OtherBytes: map[string]int64{ledger.Metrics: 0, stats: 100, configuration: 30, telemetry: 1000},
	})
}

func TestATracersMetricsComeAsDatagramsAndTheirBytesAreCounted(t *testing.T) {
	r := start(t)
	send, gauge := r.UDP("datadog"), []byte("jvm.heap_memory:1234|g|#service:tracetax\n")
	for range 10 {
		send(gauge)
	}
	sum := int64(0)
	for deadline := time.Now().Add(20 * time.Second); sum < int64(10*len(gauge)) && time.Now().Before(deadline); {
		var closed sink.Report
		r.Ask("phase next", &closed)
		sum += closed.Protocols["datadog"].OtherBytes[ledger.Metrics]
	}
	if r.Stop(); sum != int64(10*len(gauge)) {
		t.Errorf("%d bytes", sum)
	}
}

func TestDatadogTurnsAwayWhatItDoesNotUnderstand(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			if code, _, _ := r.Post(format.path, httpserver.JSON, "", strings.NewReader("[]")); code != 415 {
				t.Errorf("JSON: %d", code)
			}
			whole := format.write(traceList(1, 2, 10)...)
			for _, body := range [][]byte{whole[:len(whole)-1], append(slices.Clone(whole), 0), {0x01}, {}} {
				if code, _, _ := put(t, r, format.path, body, nil); code != 400 {
					t.Errorf("%d bytes: %d", len(body), code)
				}
			}
			c := r.Stop().Protocols["datadog"]
			if c.Malformed != 5 || c.Records != 20 || c.Duplicates < 18 {
				t.Errorf("counted %+v", c)
			}
		})
	}
}

func TestASenderThatLeavesCutsItsMessageOff(t *testing.T) {
	r := start(t)
	conn := r.Dial("datadog")
	fmt.Fprintf(conn, "PUT /v0.4/traces HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 1000\r\n"+
		"Datadog-Client-Dropped-P0-Spans: 10\r\n\r\nabc", msgpackMedia)
	conn.Close()
	r.Await("ended", func(c sink.Counts) bool { return c.Bytes == 3 && c.OpenConnections == 0 })
	samples.ExpectCount(t, r.Stop().Protocols["datadog"], account.Account{CutOff: 1})
}

func TestSpansOfOtherMethodsAreUnexpectedUnderTheirResource(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			trace := append(samples.CallSpans(1, 3), samples.Span{Trace: 1, ID: 99, Name: "MonitoredClass.other"})
			samples.ExpectCount(t, count(3, format.read, format.write(trace)), account.Account{
				Records: 3, CompleteTrees: 1, UnexpectedNames: 1, Unexpected: map[string]int64{"MonitoredClass.other": 1},
			})
		})
	}
}

func TestEverySpanCountsWhereAnyNameIsExpected(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			message := format.write(samples.CallSpans(1, 3), []samples.Span{{Trace: 2, ID: 9, Name: "GET /"}})
			samples.ExpectCount(t, countNamed(ledger.AnyName, 0, format.read, message), account.Account{Records: 4})
		})
	}
}

func TestDatadogTreesAreCheckedByTheirParents(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			inAnyOrder := samples.CallSpans(1, 3)
			slices.Reverse(inAnyOrder)
			inAnyOrder[0], inAnyOrder[2] = inAnyOrder[2], inAnyOrder[0]
			twoRoots := samples.CallSpans(2, 3)
			twoRoots[1].Parent = 0
			lost := samples.CallSpans(3, 3)
			backwards := samples.CallSpans(4, 3)
			backwards[1].Start, backwards[1].End = 5, 4
			nowhere := samples.CallSpans(5, 3)
			nowhere[0].Parent = 1234
			message := format.write(inAnyOrder, twoRoots, append(lost[:1:1], lost[2]), backwards, nowhere)
			samples.ExpectCount(t, count(3, format.read, message), account.Account{
				Records: 14, CompleteTrees: 1, PartialTrees: 4, Orphans: 2, EndBeforeStart: 1,
			})
		})
	}
}

func TestASpanWithoutIdsIsMalformed(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			message := format.write([]samples.Span{{Trace: 1}}, []samples.Span{{ID: 1}}, samples.CallSpans(2, 1))
			samples.ExpectCount(t, count(1, format.read, message), account.Account{Records: 1, CompleteTrees: 1, Malformed: 2})
		})
	}
}

func TestIdsFillAllBits(t *testing.T) {
	high := uint64(1)<<63 | 5
	trace := []samples.Span{{Trace: high, ID: high}, {Trace: high, ID: 7, Parent: high}}
	slices.Reverse(trace)
	samples.ExpectCount(t, count(2, (*walk).mapped, mappedTraces(trace)), account.Account{Records: 2, CompleteTrees: 1})
}

func TestAMessageWithTooManyStringsIsMalformed(t *testing.T) {
	var w msgpackWriter
	w.array(2)
	w.data = append(w.data, mpArray32, 0, 1, 0, 1)
	w.data = append(w.data, bytes.Repeat([]byte{mpText}, maxTableStrings+1)...)
	w.array(0)
	samples.ExpectCount(t, count(1, (*walk).listed, w.data), account.Account{Malformed: 1})
}

func TestASpanThatNamesAStringThatIsNotThereHasNoName(t *testing.T) {
	message := listedTraces(samples.CallSpans(1, 1))
	at := bytes.Index(message, []byte{mpArray | 12, 1, 2, 3})
	message[at+3] = 100
	samples.ExpectCount(t, count(1, (*walk).listed, message), account.Account{
		UnexpectedNames: 1, Unexpected: map[string]int64{"": 1},
	})
}

func TestDatadogSpansAllocateNothing(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			message := format.write(traceList(1, 100, 10)...)
			l := ledger.New(tree.NewTable(&tree.OuterFirst{}, 10, 1000, 8<<20), Protocol.Signals)
			w := newWalks(samples.SpanName, l, format.read).Get().(*httpserver.Walk)
			count := func() {
				w.Headers(http.Header{})
				if err := w.Message(message); err != nil {
					t.Fatal(err)
				}
				l.Apply(w.Batch)
			}
			count()
			if allocations := testing.AllocsPerRun(20, count); allocations > 1 {
				t.Errorf("%v allocations for 1000 spans", allocations)
			}
		})
	}
}
