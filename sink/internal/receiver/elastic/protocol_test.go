package elastic

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/tree"
)

func TestTransactionsAndSpansAreCountedExactly(t *testing.T) {
	r := start(t)
	size, metricSize := 0, 0
	for i := range uint64(20) {
		text := []byte(metadataLine + linesOf(samples.Calls(i*50+1, 50, 10)...) + metricLine)
		metricSize += len(metricLine)
		size += len(text)
		if code, _, body := r.Post(intakePath, ndjsonMedia, "", bytes.NewReader(text)); code != 202 || body != "" {
			t.Fatalf("answered %d %q", code, body)
		}
	}
	c := r.Stop().Protocols["elastic"]
	if c.Requests != 20 || c.Bytes != int64(size-metricSize) || c.FirstArrivalNs == 0 || c.LastArrivalNs < c.FirstArrivalNs {
		t.Errorf("counted %+v", c)
	}
	samples.ExpectCount(t, c, account.Account{
		Records: 10_000, CompleteTrees: 1000, OtherBytes: map[string]int64{ledger.Metrics: int64(metricSize), ledger.Logs: 0, errorEvents: 0},
	})
}

func TestCompressedEventsAreCountedAndTheirBytesShared(t *testing.T) {
	for encoding := range samples.Compressions {
		r := start(t)
		text := metadataLine + strings.Repeat(metricLine, 5) + linesOf(samples.Calls(1, 50, 10)...)
		body := samples.Compressed(encoding, []byte(text))
		if code, _, text := r.Post(intakePath, ndjsonMedia, encoding, bytes.NewReader(body)); code != 202 {
			t.Errorf("%s: %d %s", encoding, code, text)
		}
		c := r.Stop().Protocols["elastic"]
		if c.Bytes+c.OtherBytes[ledger.Metrics] != int64(len(body)) || c.OtherBytes[ledger.Metrics] == 0 || c.OtherBytes[ledger.Metrics] > c.Bytes {
			t.Errorf("%s: of %d bytes %d and %v", encoding, len(body), c.Bytes, c.OtherBytes)
		}
		samples.ExpectCount(t, c, account.Account{Records: 500, CompleteTrees: 50})
	}
}

func TestNoMoreCompressedBytesAreCountedThanHaveArrived(t *testing.T) {
	for encoding := range samples.Compressions {
		l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1000, 8<<20), Protocol.Signals)
		in := newIntakes(testEvent, l, message.NewMemory(1<<20, 4<<20)).Get().(*intake)
		text := strings.Repeat(metricLine, 300) + linesOf(samples.Calls(1, 500, 10)...)
		body, arrived, before := &samples.Pieces{Text: samples.Compressed(encoding, []byte(text)), Size: 3000}, int64(0), int64(0)
		own, others := int64(0), int64(0)
		count := func() int64 {
			c := l.Close()
			own, others = own+c.Bytes, others+c.OtherBytes[ledger.Metrics]
			return own + others
		}
		size := int64(len(body.Text))
		watched := readerFunc(func(p []byte) (int, error) {
			counted := count()
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
		if count() != size || others == 0 || others > own {
			t.Errorf("%s: of %d bytes %d and %d", encoding, size, own, others)
		}
	}
}

func TestEveryLineIsCountedWhenItArrives(t *testing.T) {
	r := start(t)
	send := openIntake(t, r)
	send(metadataLine)
	lines := strings.SplitAfter(linesOf(samples.CallSpans(1, 10)...), "\n")
	for i, line := range lines[:10] {
		send(line[:100])
		send(line[100:])
		r.Await("counted", func(c sink.Counts) bool { return c.Records == int64(i+1) && c.OpenConnections == 1 })
	}
	var first sink.Report
	r.Ask("phase measured", &first)
	if c := first.Protocols["elastic"]; c.CompleteTrees != 1 || c.Requests != 1 {
		t.Errorf("counted %+v", c)
	}
	send(linesOf(samples.CallSpans(2, 10)...))
	r.Await("counted", func(c sink.Counts) bool { return c.Phase == "measured" && c.Records == 10 })
	last := r.Stop()
	if last.OpenConnections != 1 {
		t.Errorf("%d open", last.OpenConnections)
	}
	samples.ExpectCount(t, last.Protocols["elastic"], account.Account{Records: 10, CompleteTrees: 1})
}

func TestEventsMayArriveInPiecesOfAnySize(t *testing.T) {
	text := []byte(metadataLine + "\n" + linesOf(samples.Calls(1, 3, 10)...) + strings.TrimSuffix(metricLine, "\n"))
	metricSize := int64(len(metricLine) - 1)
	for piece := 1; piece < 1000; piece += 7 {
		c := count(10, piece, text)
		samples.ExpectCount(t, c, account.Account{
			Records: 30, CompleteTrees: 3, OtherBytes: map[string]int64{ledger.Metrics: metricSize, ledger.Logs: 0, errorEvents: 0},
		})
		if c.Bytes != int64(len(text))-metricSize {
			t.Errorf("pieces of %d: %d bytes of %d", piece, c.Bytes, len(text))
		}
	}
}

func TestSpansThatALimitLeftOutAreReported(t *testing.T) {
	text := strings.ReplaceAll(linesOf(samples.Calls(1, 3, 10)...), `"dropped":0`, `"dropped":7`)
	samples.ExpectCount(t, count(10, 100, []byte(text)), account.Account{Records: 30, CompleteTrees: 3, LimitedTrees: 3, LimitedRecords: 21})
}

func TestACompositeSpanStandsForSeveralRecordsAndOnePlaceInItsTree(t *testing.T) {
	composite := func(count string) []byte {
		text := linesOf(samples.CallSpans(1, 10)...)
		return []byte(strings.Replace(text, `"outcome"`, `"composite":{"count":`+count+`,"sum":2.5,"compression_strategy":"exact_match"},"outcome"`, 1))
	}
	samples.ExpectCount(t, count(10, 100, composite("4")), account.Account{Records: 13, CompleteTrees: 1})
	samples.ExpectCount(t, count(10, 100, append(composite("4"), composite("4")...)),
		account.Account{Records: 13, CompleteTrees: 1, Duplicates: 10})
	for _, lie := range []string{"0", "1048577", "18446744073709551615"} {
		samples.ExpectCount(t, count(10, 100, composite(lie)),
			account.Account{Records: 9, PartialTrees: 1, Orphans: 0, Malformed: 1})
	}
}

func TestEveryEventCountsWhereAnyNameIsExpected(t *testing.T) {
	text := linesOf(append(samples.CallSpans(1, 10), samples.Span{Trace: 2, ID: 1, Name: "GET /"})...)
	samples.ExpectCount(t, countNamed(ledger.AnyName, 0, 64, []byte(text)), account.Account{Records: 11})
}

func TestEventsOfAnotherNameAreUnexpected(t *testing.T) {
	text := linesOf(append(samples.CallSpans(1, 10), samples.Span{Trace: 1, ID: 99, Parent: 98, Name: "GET /"}, samples.Span{Trace: 2, ID: 1, Name: "x"})...)
	samples.ExpectCount(t, count(10, 100, []byte(text)), account.Account{
		Records: 10, CompleteTrees: 1, UnexpectedNames: 2, Unexpected: map[string]int64{"GET /": 1, "x": 1},
	})
}

func TestErrorsAndLogsAreAnsweredAndTheirBytesCounted(t *testing.T) {
	problem, message := `{"error":{"id":"1","exception":{"message":"span"}}}`, `{"log":{"message":"{\"span\":1}"}}`
	samples.ExpectCount(t, count(10, 5, []byte(problem+"\n"+message+"\n")), account.Account{
		OtherBytes: map[string]int64{ledger.Metrics: 0, errorEvents: int64(len(problem) + 1), ledger.Logs: int64(len(message) + 1)},
	})
}

func TestALineThatIsNoEventIsMalformedAndTheOthersCount(t *testing.T) {
	good := linesOf(samples.CallSpans(1, 10)...)
	for _, line := range []string{"x", "{}", "[]", "7", `"span"`, `{"span":{}`, `{"span":{"name":"` + testEvent + `"}}`, `{"spam":{}}`, `{"span":{}} {}`, "\x00", "\xff\xfe"} {
		half := strings.Index(good, "\n") + 1
		samples.ExpectCount(t, count(10, 64, []byte(good[:half]+line+"\n"+good[half:])),
			account.Account{Records: 10, CompleteTrees: 1, Malformed: 1})
	}
	r := start(t)
	if code, _, body := r.Post(intakePath, ndjsonMedia, "", strings.NewReader(good+"x\n")); code != 400 || body == "" {
		t.Errorf("answered %d %q", code, body)
	}
}

func TestASenderThatLeavesInTheMiddleOfALineCutsItOff(t *testing.T) {
	for rest, want := range map[string]int64{"": 0, metadataLine[:20]: 1, " \n ": 0} {
		r := start(t)
		send := openIntake(t, r)
		send(linesOf(samples.CallSpans(1, 10)...) + rest)
		r.Await("counted", func(c sink.Counts) bool { return c.Records == 10 })
		send("")
		r.Await("ended", func(c sink.Counts) bool { return c.OpenConnections == 0 })
		samples.ExpectCount(t, r.Stop().Protocols["elastic"], account.Account{Records: 10, CompleteTrees: 1, CutOff: want})
	}
}

func TestARequestMayEndWithoutANewline(t *testing.T) {
	text := linesOf(samples.CallSpans(1, 10)...)
	samples.ExpectCount(t, count(10, 50, []byte(text[:len(text)-1])), account.Account{Records: 10, CompleteTrees: 1})
	samples.ExpectCount(t, count(10, 50, []byte(text[:len(text)-9])), account.Account{Records: 9, PartialTrees: 1, Orphans: 1, Malformed: 1})
}

func TestASilentSenderIsWaitedForUnlessItHoldsALongLine(t *testing.T) {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 100, 8<<20), Protocol.Signals)
	in := newIntakes(testEvent, l, message.NewMemory(1<<20, 4<<20)).Get().(*intake)
	line := `{"metadata":{"x":"` + strings.Repeat("x", 4*shortLine) + `"}}` + "\n"
	short := linesOf(samples.CallSpans(1, 10)...)
	var patient []int
	body := &samples.Pieces{Text: []byte(short + line + short), Size: 1000}
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
	if c := l.Close(); c.Records != 10 || c.Duplicates != 10 || c.Malformed != 0 {
		t.Errorf("%+v", c)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestALineBeyondTheLimitIsGivenUpAndTheNextOnesCount(t *testing.T) {
	r := start(t, "--max-memory", fmt.Sprint(bounds.LeastMemory))
	good := linesOf(samples.CallSpans(1, 10)...)
	long := `{"metadata":"` + strings.Repeat("x", bounds.LeastMemory) + `"}` + "\n"
	if code, _, _ := r.Post(intakePath, ndjsonMedia, "", strings.NewReader(good+long+linesOf(samples.CallSpans(2, 10)...))); code != 400 {
		t.Errorf("answered %d", code)
	}
	c := r.Stop().Protocols["elastic"]
	if c.Bytes != int64(2*len(good)+len(long)) {
		t.Errorf("%d bytes of %d", c.Bytes, 2*len(good)+len(long))
	}
	samples.ExpectCount(t, c, account.Account{Records: 20, CompleteTrees: 2, Malformed: 1})
}

func TestAnEndlessLineHoldsNoMemory(t *testing.T) {
	const limit = 1 << 20
	slowly := io.LimitReader(samples.Endless{}, 2*limit)
	for name, body := range map[string]io.Reader{
		"plain": io.LimitReader(samples.Endless{}, 64*limit),
		"slow":  readerFunc(func(p []byte) (int, error) { return slowly.Read(p[:min(len(p), 16)]) }),
	} {
		l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 100, 8<<20), Protocol.Signals)
		m := message.NewMemory(limit, 4*limit)
		in := newIntakes(testEvent, l, m).Get().(*intake)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = in.read(body, "", func() {})
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 8*limit || m.Held() != 0 {
			t.Errorf("%s: took %d bytes, still holds %d", name, taken, m.Held())
		}
		samples.ExpectCount(t, l.Close(), account.Account{Malformed: 1})
	}
}

func TestALongLineIsNotKeptAliveAfterItsEnd(t *testing.T) {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 100, 8<<20), Protocol.Signals)
	const pooledBytes = 4 << 20 // of the largest buffer that is kept for another message
	m := message.NewMemory(4*pooledBytes, 16*pooledBytes)
	in := newIntakes(testEvent, l, m).Get().(*intake)
	long := `{"metadata":"` + strings.Repeat("x", 2*pooledBytes) + `"}` + "\n"
	body := &samples.Pieces{Text: []byte(long + metadataLine), Size: len(long)}
	var line weak.Pointer[byte]
	looked := false
	watched := readerFunc(func(p []byte) (int, error) {
		switch {
		case len(in.large) > pooledBytes:
			line = weak.Make(&in.large[0])
		case line != (weak.Pointer[byte]{}):
			runtime.GC()
			looked = true
			if line.Value() != nil || m.Held() != 0 {
				t.Errorf("alive, and %d bytes reserved", m.Held())
			}
		}
		return body.Read(p)
	})
	if err := in.read(watched, "", func() {}); err != nil || !looked {
		t.Errorf("%v, looked %v", err, looked)
	}
}

func TestWithoutMemoryForALongLineTheRequestIsRefused(t *testing.T) {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 100, 8<<20), Protocol.Signals)
	in := newIntakes(testEvent, l, message.NewMemory(1<<20, shortLine)).Get().(*intake)
	text := linesOf(samples.CallSpans(1, 10)...) + `{"metadata":"` + strings.Repeat("x", 2*shortLine) + `"}`
	if err := in.read(strings.NewReader(text), "", func() {}); err != message.ErrBusy {
		t.Errorf("said %v", err)
	}
	samples.ExpectCount(t, l.Close(), account.Account{Records: 10, CompleteTrees: 1, Refused: 1})
}

func TestElasticTurnsAwayWhatItDoesNotUnderstand(t *testing.T) {
	r := start(t)
	if code, _, _ := r.Post(intakePath, httpserver.JSON, "", strings.NewReader("{}")); code != 415 {
		t.Errorf("JSON: %d", code)
	}
	if code, _, _ := r.Post(intakePath, ndjsonMedia, "brotli", strings.NewReader("{}")); code != 400 {
		t.Errorf("brotli: %d", code)
	}
	body := samples.Compressed("gzip", []byte(linesOf(samples.Calls(1, 10, 10)...)))
	if code, _, _ := r.Post(intakePath, ndjsonMedia, "gzip", bytes.NewReader(body[:len(body)-6])); code != 400 {
		t.Errorf("cut gzip: %d", code)
	}
	if code, _, _ := r.Post("/intake/v3/events", ndjsonMedia, "", nil); code != 404 {
		t.Errorf("version 3: %d", code)
	}
	samples.ExpectCount(t, r.Stop().Protocols["elastic"], account.Account{Records: 100, CompleteTrees: 10, Malformed: 3})
}

func TestAnAgentIsToldOfTheServerAndOfNoConfiguration(t *testing.T) {
	r := start(t)
	get := func(path, known string) (int, string) {
		request, _ := http.NewRequest(http.MethodGet, r.URL(path), nil)
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
	if code, _, body := r.Post("/config/v1/agents", httpserver.JSON, "", strings.NewReader("{}")); code != 200 || body != "{}" {
		t.Errorf("asked by POST: %d %s", code, body)
	}
	if code, _ := get("/other", ""); code != 404 {
		t.Errorf("other: %d", code)
	}
}

func TestLinesAllocateNothing(t *testing.T) {
	text := []byte(linesOf(samples.Calls(1, 100, 10)...))
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1000, 8<<20), Protocol.Signals)
	in := newIntakes(testEvent, l, message.NewMemory(1<<20, 4<<20)).Get().(*intake)
	count := func() {
		if err := in.read(&samples.Pieces{Text: text, Size: 4096}, "", func() {}); err != nil {
			t.Fatal(err)
		}
	}
	count()
	if allocations := testing.AllocsPerRun(20, count); allocations > 5 {
		t.Errorf("%v allocations for 1000 events", allocations)
	}
}

func TestStoppingDoesNotWaitForAnOpenRequestAndCountsHowItEnds(t *testing.T) {
	r := start(t)
	send := openIntake(t, r)
	send(linesOf(samples.CallSpans(1, 10)...) + metadataLine[:20])
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 10 })
	began := time.Now()
	last := r.Stop()
	if last.OpenConnections != 1 || time.Since(began) > message.Time/2 {
		t.Errorf("stopped after %v with %d open", time.Since(began), last.OpenConnections)
	}
	samples.ExpectCount(t, last.Protocols["elastic"], account.Account{Records: 10, CompleteTrees: 1, CutOff: 1})
}
