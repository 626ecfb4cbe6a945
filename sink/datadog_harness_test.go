package main

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strconv"
	"testing"
)

// msgpackWriter writes MessagePack in the shapes that Datadog's tracers for Java use.
type msgpackWriter struct{ data []byte }

func (w *msgpackWriter) array(size int) {
	if size < 16 {
		w.data = append(w.data, mpArray|byte(size))
		return
	}
	w.data = binary.BigEndian.AppendUint16(append(w.data, mpArray16), uint16(size))
}

func (w *msgpackWriter) pairs(size int) { w.data = append(w.data, mpMap|byte(size)) }

func (w *msgpackWriter) text(text string) {
	if len(text) < 32 {
		w.data = append(w.data, mpText|byte(len(text)))
	} else {
		w.data = append(w.data, mpText8, byte(len(text)))
	}
	w.data = append(w.data, text...)
}

func (w *msgpackWriter) long(value uint64) {
	w.data = binary.BigEndian.AppendUint64(append(w.data, mpUint64), value)
}

func (w *msgpackWriter) small(value byte) { w.data = append(w.data, value) }

func (w *msgpackWriter) double(bits uint64) {
	w.data = binary.BigEndian.AppendUint64(append(w.data, 0xcb), bits)
}

// mappedTraces is a message of version 0.4 with the spans of each trace in the order in which the tracer sends them:
// the outer one first.
func mappedTraces(traces ...[]span) []byte {
	var w msgpackWriter
	w.array(len(traces))
	for _, trace := range traces {
		w.array(len(trace))
		for i := range trace {
			w.mappedSpan(trace[len(trace)-1-i])
		}
	}
	return w.data
}

func (w *msgpackWriter) mappedSpan(s span) {
	if s.name == "" {
		s.name = testSpan
	}
	w.pairs(12)
	for _, pair := range [][2]string{{"service", "tracetax"}, {"name", "trace.annotation"}, {"resource", s.name}} {
		w.text(pair[0])
		w.text(pair[1])
	}
	for name, value := range map[string]uint64{"trace_id": s.trace, "span_id": s.id, "parent_id": s.parent} {
		w.text(name)
		w.long(value)
	}
	w.text("start")
	w.long(1_700_000_000_000_000_000 + s.start)
	w.text("duration")
	w.data = binary.BigEndian.AppendUint64(append(w.data, mpInt64), s.end-s.start)
	w.text("type")
	w.small(mpNil)
	w.text("error")
	w.small(0)
	w.text("metrics")
	w.pairs(2)
	w.text("_sampling_priority_v1")
	w.small(1)
	w.text("thread.id")
	w.small(1)
	w.text("meta")
	w.pairs(2)
	w.text("thread.name")
	w.text("main")
	w.text("component")
	w.text("trace")
}

// listedTraces is the same of version 0.5.
func listedTraces(traces ...[]span) []byte {
	strings := []string{"", "tracetax", "trace.annotation", testSpan, "thread.name", "main", "_sampling_priority_v1"}
	for _, trace := range traces {
		for _, s := range trace {
			if s.name != "" {
				strings = append(strings, s.name)
			}
		}
	}
	var w msgpackWriter
	w.array(2)
	w.array(len(strings))
	w.small(mpNil)
	for _, text := range strings[1:] {
		w.text(text)
	}
	w.array(len(traces))
	other := byte(6)
	for _, trace := range traces {
		w.array(len(trace))
		for i := range trace {
			s := trace[len(trace)-1-i]
			resource := byte(3)
			if s.name != "" {
				other++
				resource = other
			}
			w.listedSpan(s, resource)
		}
	}
	return w.data
}

func (w *msgpackWriter) listedSpan(s span, resource byte) {
	w.array(12)
	w.small(1)
	w.small(2)
	w.small(resource)
	w.long(s.trace)
	w.long(s.id)
	w.long(s.parent)
	w.long(1_700_000_000_000_000_000 + s.start)
	w.data = binary.BigEndian.AppendUint64(append(w.data, mpInt64), s.end-s.start)
	w.small(0)
	w.pairs(1)
	w.small(4)
	w.small(5)
	w.pairs(1)
	w.small(6)
	w.double(0x3ff0000000000000)
	w.small(0)
}

// traceList are calls of the depth, one trace each.
func traceList(from, count uint64, depth int) [][]span {
	traces := make([][]span, count)
	for i := range traces {
		traces[i] = callSpans(from+uint64(i), depth)
	}
	return traces
}

// datadogFormats are the two ways in which messages are written.
var datadogFormats = map[string]struct {
	path  string
	read  func(*datadogWalk) int64
	write func(...[]span) []byte
}{
	"mapped": {"/v0.4/traces", (*datadogWalk).mapped, mappedTraces},
	"listed": {"/v0.5/traces", (*datadogWalk).listed, listedTraces},
}

func countDatadog(depth int, read func(*datadogWalk) int64, messages ...[]byte) protocolCount {
	l := newLedger(newTreeTable(&outerFirst{}, depth, 1000, 8<<20), datadog.signals)
	w := newDatadogWalks(testSpan, l, read).Get().(*walk)
	for _, message := range messages {
		w.headers(http.Header{})
		if w.message(message) != nil {
			w.batch.malformed++
		}
		l.apply(w.batch)
	}
	return l.close()
}

// put sends a message with traces and the tracer's headers, and returns the reply's status, state and body.
func (r *running) put(path string, body []byte, headers map[string]string) (int, string, string) {
	r.t.Helper()
	request, err := http.NewRequest(http.MethodPut, r.url(path), bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", msgpackMedia)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer reply.Body.Close()
	var text bytes.Buffer
	_, _ = text.ReadFrom(reply.Body)
	return reply.StatusCode, reply.Header.Get("Datadog-Agent-State"), text.String()
}

func tracerHeaders(traces, droppedTraces, droppedSpans int) map[string]string {
	return map[string]string{
		"X-Datadog-Trace-Count":            strconv.Itoa(traces),
		"Datadog-Client-Dropped-P0-Traces": strconv.Itoa(droppedTraces),
		"Datadog-Client-Dropped-P0-Spans":  strconv.Itoa(droppedSpans),
		"Datadog-Client-Computed-Stats":    "true",
	}
}

func startDatadog(t *testing.T, arguments ...string) *running {
	t.Helper()
	return start(t, append([]string{"--protocols", "datadog", "--depth", "10", "--record-name", testSpan}, arguments...)...)
}
