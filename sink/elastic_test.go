package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"weak"
)

const intakePath = "/intake/v2/events"

func startElastic(t *testing.T, arguments ...string) *running {
	t.Helper()
	return start(t, append([]string{"--protocols", "elastic", "--depth", "10", "--record-name", testEvent}, arguments...)...)
}

// openIntake begins a request in chunks and returns how to send one.
func (r *running) openIntake() (send func(text string)) {
	r.t.Helper()
	conn := r.dial("elastic")
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", intakePath, ndjsonMedia)
	r.t.Cleanup(func() { conn.Close() })
	return func(text string) {
		if text == "" {
			conn.Close()
			return
		}
		fmt.Fprintf(conn, "%x\r\n%s\r\n", len(text), text)
	}
}

func TestTransactionsAndSpansAreCountedExactly(t *testing.T) {
	r := startElastic(t)
	size, metricSize := 0, 0
	for i := range uint64(20) {
		text := []byte(metadataLine + elasticLines(calls(i*50+1, 50, 10)...) + metricLine)
		metricSize += len(metricLine)
		size += len(text)
		if code, _, body := r.post(intakePath, ndjsonMedia, "", bytes.NewReader(text)); code != 202 || body != "" {
			t.Fatalf("answered %d %q", code, body)
		}
	}
	c := r.stop().Protocols["elastic"]
	if c.Requests != 20 || c.Bytes != int64(size-metricSize) || c.FirstArrivalNs == 0 || c.LastArrivalNs < c.FirstArrivalNs {
		t.Errorf("counted %+v", c)
	}
	expectCount(t, c, protocolCount{
		Records: 10_000, CompleteTrees: 1000, OtherBytes: map[string]int64{metrics: int64(metricSize), logs: 0, errorEvents: 0},
	})
}

func TestCompressedEventsAreCountedAndTheirBytesShared(t *testing.T) {
	for encoding := range compressions {
		r := startElastic(t)
		text := metadataLine + strings.Repeat(metricLine, 5) + elasticLines(calls(1, 50, 10)...)
		body := compressed(encoding, []byte(text))
		if code, _, text := r.post(intakePath, ndjsonMedia, encoding, bytes.NewReader(body)); code != 202 {
			t.Errorf("%s: %d %s", encoding, code, text)
		}
		c := r.stop().Protocols["elastic"]
		if c.Bytes+c.OtherBytes[metrics] != int64(len(body)) || c.OtherBytes[metrics] == 0 || c.OtherBytes[metrics] > c.Bytes {
			t.Errorf("%s: of %d bytes %d and %v", encoding, len(body), c.Bytes, c.OtherBytes)
		}
		expectCount(t, c, protocolCount{Records: 500, CompleteTrees: 50})
	}
}

func TestNoMoreCompressedBytesAreCountedThanHaveArrived(t *testing.T) {
	for encoding := range compressions {
		l := newLedger(newTreeTable(&spanChain{}, 10, 1000, 8<<20), elastic.signals)
		in := newIntakes(testEvent, l, newMessages(1<<20, 4<<20)).Get().(*intake)
		text := strings.Repeat(metricLine, 300) + elasticLines(calls(1, 500, 10)...)
		body, arrived, before := &pieces{text: compressed(encoding, []byte(text)), size: 3000}, int64(0), int64(0)
		size := int64(len(body.text))
		watched := readerFunc(func(p []byte) (int, error) {
			l.mu.Lock()
			counted := l.count.Bytes + l.count.OtherBytes[metrics]
			l.mu.Unlock()
			if counted < before || counted > arrived {
				t.Errorf("%s: %d bytes are counted, and %d before, of %d", encoding, counted, before, arrived)
			}
			n, err := body.Read(p)
			arrived, before = arrived+int64(n), counted
			return n, err
		})
		if err := in.read(watched, encoding, func() {}); err != nil {
			t.Fatal(err)
		}
		if c := l.close(); c.Bytes+c.OtherBytes[metrics] != size || c.OtherBytes[metrics] == 0 || c.OtherBytes[metrics] > c.Bytes {
			t.Errorf("%s: of %d bytes %d and %v", encoding, size, c.Bytes, c.OtherBytes)
		}
	}
}

func TestEveryLineIsCountedWhenItArrives(t *testing.T) {
	r := startElastic(t)
	send := r.openIntake()
	send(metadataLine)
	lines := strings.SplitAfter(elasticLines(callSpans(1, 10)...), "\n")
	for i, line := range lines[:10] {
		send(line[:100])
		send(line[100:])
		r.await("counted", func(c counts) bool { return c.Records == int64(i+1) && c.OpenConnections == 1 })
	}
	var first report
	r.ask("phase measured", &first)
	if c := first.Protocols["elastic"]; c.CompleteTrees != 1 || c.Requests != 1 {
		t.Errorf("counted %+v", c)
	}
	send(elasticLines(callSpans(2, 10)...))
	r.await("counted", func(c counts) bool { return c.Phase == "measured" && c.Records == 10 })
	last := r.stop()
	if last.OpenConnections != 1 {
		t.Errorf("%d open", last.OpenConnections)
	}
	expectCount(t, last.Protocols["elastic"], protocolCount{Records: 10, CompleteTrees: 1})
}

func TestEventsMayArriveInPiecesOfAnySize(t *testing.T) {
	text := []byte(metadataLine + "\n" + elasticLines(calls(1, 3, 10)...) + strings.TrimSuffix(metricLine, "\n"))
	metricSize := int64(len(metricLine) - 1)
	for piece := 1; piece < 1000; piece += 7 {
		c := countElastic(10, piece, text)
		expectCount(t, c, protocolCount{
			Records: 30, CompleteTrees: 3, OtherBytes: map[string]int64{metrics: metricSize, logs: 0, errorEvents: 0},
		})
		if c.Bytes != int64(len(text))-metricSize {
			t.Errorf("pieces of %d: %d bytes of %d", piece, c.Bytes, len(text))
		}
	}
}

func TestSpansThatALimitLeftOutAreReported(t *testing.T) {
	text := strings.ReplaceAll(elasticLines(calls(1, 3, 10)...), `"dropped":0`, `"dropped":7`)
	expectCount(t, countElastic(10, 100, []byte(text)), protocolCount{Records: 30, CompleteTrees: 3, LimitedTrees: 3, LimitedRecords: 21})
}

func TestACompositeSpanStandsForSeveralRecordsAndOnePlaceInItsTree(t *testing.T) {
	composite := func(count string) []byte {
		text := elasticLines(callSpans(1, 10)...)
		return []byte(strings.Replace(text, `"outcome"`, `"composite":{"count":`+count+`,"sum":2.5,"compression_strategy":"exact_match"},"outcome"`, 1))
	}
	expectCount(t, countElastic(10, 100, composite("4")), protocolCount{Records: 13, CompleteTrees: 1})
	expectCount(t, countElastic(10, 100, append(composite("4"), composite("4")...)),
		protocolCount{Records: 13, CompleteTrees: 1, Duplicates: 10})
	for _, lie := range []string{"0", "1048577", "18446744073709551615"} {
		expectCount(t, countElastic(10, 100, composite(lie)),
			protocolCount{Records: 9, PartialTrees: 1, Orphans: 0, Malformed: 1})
	}
}

func TestEventsOfAnotherNameAreUnexpected(t *testing.T) {
	text := elasticLines(append(callSpans(1, 10), span{trace: 1, id: 99, parent: 98, name: "GET /"}, span{trace: 2, id: 1, name: "x"})...)
	expectCount(t, countElastic(10, 100, []byte(text)), protocolCount{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 2, Unexpected: map[string]int64{"GET /": 1, "x": 1},
	})
}

func TestErrorsAndLogsAreAnsweredAndTheirBytesCounted(t *testing.T) {
	problem, message := `{"error":{"id":"1","exception":{"message":"span"}}}`, `{"log":{"message":"{\"span\":1}"}}`
	expectCount(t, countElastic(10, 5, []byte(problem+"\n"+message+"\n")), protocolCount{
		OtherBytes: map[string]int64{metrics: 0, errorEvents: int64(len(problem) + 1), logs: int64(len(message) + 1)},
	})
}

func TestALineThatIsNoEventIsMalformedAndTheOthersCount(t *testing.T) {
	good := elasticLines(callSpans(1, 10)...)
	for _, line := range []string{"x", "{}", "[]", "7", `"span"`, `{"span":{}`, `{"span":{"name":"` + testEvent + `"}}`, `{"spam":{}}`, `{"span":{}} {}`, "\x00", "\xff\xfe"} {
		half := strings.Index(good, "\n") + 1
		expectCount(t, countElastic(10, 64, []byte(good[:half]+line+"\n"+good[half:])),
			protocolCount{Records: 10, CompleteTrees: 1, Malformed: 1})
	}
	r := startElastic(t)
	if code, _, body := r.post(intakePath, ndjsonMedia, "", strings.NewReader(good+"x\n")); code != 400 || body == "" {
		t.Errorf("answered %d %q", code, body)
	}
}

func TestASenderThatLeavesInTheMiddleOfALineCutsItOff(t *testing.T) {
	for rest, want := range map[string]int64{"": 0, metadataLine[:20]: 1, " \n ": 0} {
		r := startElastic(t)
		send := r.openIntake()
		send(elasticLines(callSpans(1, 10)...) + rest)
		r.await("counted", func(c counts) bool { return c.Records == 10 })
		send("")
		r.await("ended", func(c counts) bool { return c.OpenConnections == 0 })
		expectCount(t, r.stop().Protocols["elastic"], protocolCount{Records: 10, CompleteTrees: 1, CutOff: want})
	}
}

func TestARequestMayEndWithoutANewline(t *testing.T) {
	text := elasticLines(callSpans(1, 10)...)
	expectCount(t, countElastic(10, 50, []byte(text[:len(text)-1])), protocolCount{Records: 10, CompleteTrees: 1})
	expectCount(t, countElastic(10, 50, []byte(text[:len(text)-9])), protocolCount{Records: 9, PartialTrees: 1, Orphans: 1, Malformed: 1})
}

func TestASilentSenderIsWaitedForUnlessItHoldsALongLine(t *testing.T) {
	l := newLedger(newTreeTable(&spanChain{}, 10, 100, 8<<20), elastic.signals)
	in := newIntakes(testEvent, l, newMessages(1<<20, 4<<20)).Get().(*intake)
	line := `{"metadata":{"x":"` + strings.Repeat("x", 4*shortLine) + `"}}` + "\n"
	short := elasticLines(callSpans(1, 10)...)
	var patient []int
	body := &pieces{text: []byte(short + line + short), size: 1000}
	reads := 0
	counted := readerFunc(func(p []byte) (int, error) { reads++; return body.Read(p) })
	if err := in.read(counted, "", func() { patient = append(patient, reads) }); err != nil {
		t.Fatal(err)
	}
	// While more than a short line is held, the deadline stands.
	whole := len(short)/1000 + shortLine/1000
	if waits := reads - len(patient); waits < 3*shortLine/1000 || len(patient) < whole {
		t.Errorf("%d reads, %d times patient", reads, len(patient))
	}
	if c := l.close(); c.Records != 10 || c.Duplicates != 10 || c.Malformed != 0 {
		t.Errorf("%+v", c)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestALineBeyondTheLimitIsGivenUpAndTheNextOnesCount(t *testing.T) {
	r := startElastic(t, "--max-memory", fmt.Sprint(minMaxMemory))
	good := elasticLines(callSpans(1, 10)...)
	long := `{"metadata":"` + strings.Repeat("x", minMaxMemory) + `"}` + "\n"
	if code, _, _ := r.post(intakePath, ndjsonMedia, "", strings.NewReader(good+long+elasticLines(callSpans(2, 10)...))); code != 400 {
		t.Errorf("answered %d", code)
	}
	c := r.stop().Protocols["elastic"]
	if c.Bytes != int64(2*len(good)+len(long)) {
		t.Errorf("%d bytes of %d", c.Bytes, 2*len(good)+len(long))
	}
	expectCount(t, c, protocolCount{Records: 20, CompleteTrees: 2, Malformed: 1})
}

func TestAnEndlessLineHoldsNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and slow with the race detector")
	}
	const limit = 1 << 20
	for name, body := range map[string]io.Reader{
		"plain": io.LimitReader(endless{}, 64*limit),
		"slow":  iotest.OneByteReader(io.LimitReader(endless{}, 2*limit)),
	} {
		l := newLedger(newTreeTable(&spanChain{}, 10, 100, 8<<20), elastic.signals)
		m := newMessages(limit, 4*limit)
		in := newIntakes(testEvent, l, m).Get().(*intake)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = in.read(body, "", func() {})
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 8*limit || m.budget.used.Load() != 0 {
			t.Errorf("%s: took %d bytes, still holds %d", name, taken, m.budget.used.Load())
		}
		expectCount(t, l.close(), protocolCount{Malformed: 1})
	}
}

func TestALongLineIsNotKeptAliveAfterItsEnd(t *testing.T) {
	l := newLedger(newTreeTable(&spanChain{}, 10, 100, 8<<20), elastic.signals)
	m := newMessages(4*pooledMessage, 16*pooledMessage)
	in := newIntakes(testEvent, l, m).Get().(*intake)
	long := `{"metadata":"` + strings.Repeat("x", 2*pooledMessage) + `"}` + "\n"
	body := &pieces{text: []byte(long + metadataLine), size: len(long)}
	var line weak.Pointer[byte]
	looked := false
	watched := readerFunc(func(p []byte) (int, error) {
		switch {
		case len(in.large) > pooledMessage:
			line = weak.Make(&in.large[0])
		case line != (weak.Pointer[byte]{}):
			runtime.GC()
			looked = true
			if line.Value() != nil || m.budget.used.Load() != 0 {
				t.Errorf("alive, and %d bytes reserved", m.budget.used.Load())
			}
		}
		return body.Read(p)
	})
	if err := in.read(watched, "", func() {}); err != nil || !looked {
		t.Errorf("%v, looked %v", err, looked)
	}
}

func TestWithoutMemoryForALongLineTheRequestIsRefused(t *testing.T) {
	l := newLedger(newTreeTable(&spanChain{}, 10, 100, 8<<20), elastic.signals)
	in := newIntakes(testEvent, l, newMessages(1<<20, shortLine)).Get().(*intake)
	text := elasticLines(callSpans(1, 10)...) + `{"metadata":"` + strings.Repeat("x", 2*shortLine) + `"}`
	if err := in.read(strings.NewReader(text), "", func() {}); err != errBusy {
		t.Errorf("said %v", err)
	}
	expectCount(t, l.close(), protocolCount{Records: 10, CompleteTrees: 1, Refused: 1})
}

func TestElasticTurnsAwayWhatItDoesNotUnderstand(t *testing.T) {
	r := startElastic(t)
	if code, _, _ := r.post(intakePath, jsonMedia, "", strings.NewReader("{}")); code != 415 {
		t.Errorf("JSON: %d", code)
	}
	if code, _, _ := r.post(intakePath, ndjsonMedia, "brotli", strings.NewReader("{}")); code != 400 {
		t.Errorf("brotli: %d", code)
	}
	body := compressed("gzip", []byte(elasticLines(calls(1, 10, 10)...)))
	if code, _, _ := r.post(intakePath, ndjsonMedia, "gzip", bytes.NewReader(body[:len(body)-6])); code != 400 {
		t.Errorf("cut gzip: %d", code)
	}
	if code, _, _ := r.post("/intake/v3/events", ndjsonMedia, "", nil); code != 404 {
		t.Errorf("version 3: %d", code)
	}
	expectCount(t, r.stop().Protocols["elastic"], protocolCount{Records: 100, CompleteTrees: 10, Malformed: 3})
}

func TestAnAgentIsToldOfTheServerAndOfNoConfiguration(t *testing.T) {
	r := startElastic(t)
	get := func(path, known string) (int, string) {
		request, _ := http.NewRequest(http.MethodGet, r.url(path), nil)
		if known != "" {
			request.Header.Set("If-None-Match", known)
		}
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, _ := io.ReadAll(reply.Body)
		return reply.StatusCode, string(text)
	}
	if code, body := get("/", ""); code != 200 || !strings.Contains(body, `"version":"8.`) {
		t.Errorf("server: %d %s", code, body)
	}
	if code, body := get("/config/v1/agents?service.name=x", ""); code != 200 || body != "{}" {
		t.Errorf("configuration: %d %s", code, body)
	}
	if code, _ := get("/config/v1/agents", `"none"`); code != 304 {
		t.Errorf("known configuration: %d", code)
	}
	if code, _, body := r.post("/config/v1/agents", jsonMedia, "", strings.NewReader("{}")); code != 200 || body != "{}" {
		t.Errorf("asked by POST: %d %s", code, body)
	}
	if code, _ := get("/other", ""); code != 404 {
		t.Errorf("other: %d", code)
	}
}

func TestLinesAllocateNothing(t *testing.T) {
	text := []byte(elasticLines(calls(1, 100, 10)...))
	l := newLedger(newTreeTable(&spanChain{}, 10, 1000, 8<<20), elastic.signals)
	in := newIntakes(testEvent, l, newMessages(1<<20, 4<<20)).Get().(*intake)
	count := func() {
		if err := in.read(&pieces{text: text, size: 4096}, "", func() {}); err != nil {
			t.Fatal(err)
		}
	}
	count()
	if allocations := testing.AllocsPerRun(20, count); allocations > 5 {
		t.Errorf("%v allocations for 1000 events", allocations)
	}
}

func TestStoppingDoesNotWaitForAnOpenRequestAndCountsHowItEnds(t *testing.T) {
	r := startElastic(t)
	send := r.openIntake()
	send(elasticLines(callSpans(1, 10)...) + metadataLine[:20])
	r.await("counted", func(c counts) bool { return c.Records == 10 })
	began := time.Now()
	last := r.stop()
	if last.OpenConnections != 1 || time.Since(began) > messageTime/2 {
		t.Errorf("stopped after %v with %d open", time.Since(began), last.OpenConnections)
	}
	expectCount(t, last.Protocols["elastic"], protocolCount{Records: 10, CompleteTrees: 1, CutOff: 1})
}
