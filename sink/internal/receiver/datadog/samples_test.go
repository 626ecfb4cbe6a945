package datadog

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strconv"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

// First bytes of MessagePack's values. Those of map, array and text hold a length in their lowest bits.
const (
	mpMap     = 0x80
	mpArray   = 0x90
	mpText    = 0xa0
	mpNil     = 0xc0
	mpUint64  = 0xcf
	mpInt64   = 0xd3
	mpText8   = 0xd9
	mpArray16 = 0xdc
	mpArray32 = 0xdd
	mpMap32   = 0xdf
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
func mappedTraces(traces ...[]samples.Span) []byte {
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

func (w *msgpackWriter) mappedSpan(s samples.Span) {
	if s.Name == "" {
		s.Name = samples.SpanName
	}
	w.pairs(12)
	for _, pair := range [][2]string{{"service", "tracetax"}, {"name", "trace.annotation"}, {"resource", s.Name}} {
		w.text(pair[0])
		w.text(pair[1])
	}
	for name, value := range map[string]uint64{"trace_id": s.Trace, "span_id": s.ID, "parent_id": s.Parent} {
		w.text(name)
		w.long(value)
	}
	w.text("start")
	w.long(1_700_000_000_000_000_000 + s.Start)
	w.text("duration")
	w.data = binary.BigEndian.AppendUint64(append(w.data, mpInt64), s.End-s.Start)
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
func listedTraces(traces ...[]samples.Span) []byte {
	strings := []string{"", "tracetax", "trace.annotation", samples.SpanName, "thread.name", "main", "_sampling_priority_v1"}
	for _, trace := range traces {
		for _, s := range trace {
			if s.Name != "" {
				strings = append(strings, s.Name)
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
			if s.Name != "" {
				other++
				resource = other
			}
			w.listedSpan(s, resource)
		}
	}
	return w.data
}

func (w *msgpackWriter) listedSpan(s samples.Span, resource byte) {
	w.array(12)
	w.small(1)
	w.small(2)
	w.small(resource)
	w.long(s.Trace)
	w.long(s.ID)
	w.long(s.Parent)
	w.long(1_700_000_000_000_000_000 + s.Start)
	w.data = binary.BigEndian.AppendUint64(append(w.data, mpInt64), s.End-s.Start)
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
func traceList(from, count uint64, depth int) [][]samples.Span {
	traces := make([][]samples.Span, count)
	for i := range traces {
		traces[i] = samples.CallSpans(from+uint64(i), depth)
	}
	return traces
}

// formats are the two ways in which messages are written.
var formats = map[string]struct {
	path  string
	read  func(*walk) int64
	write func(...[]samples.Span) []byte
}{
	"mapped": {"/v0.4/traces", (*walk).mapped, mappedTraces},
	"listed": {"/v0.5/traces", (*walk).listed, listedTraces},
}

func count(depth int, read func(*walk) int64, messages ...[]byte) account.Account {
	return countNamed(samples.SpanName, depth, read, messages...)
}

func countNamed(recordName string, depth int, read func(*walk) int64, messages ...[]byte) account.Account {
	l := ledger.New(tree.NewTable(&tree.OuterFirst{}, depth, 1000, 8<<20), Protocol.Signals)
	w := newWalks(recordName, l, read).Get().(*httpserver.Walk)
	for _, message := range messages {
		w.Headers(http.Header{})
		if w.Message(message) != nil {
			w.Batch.Malformed++
		}
		l.Apply(w.Batch)
	}
	return l.Close()
}

// put sends a message with traces and the tracer's headers, and returns the reply's status, state and body.
func put(t *testing.T, r *sinktest.Running, path string, body []byte, headers map[string]string) (int, string, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPut, r.URL(path), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", msgpackMedia)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
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

func start(t *testing.T, arguments ...string) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, protocol.Table{"datadog": Protocol}, append([]string{"--protocols", "datadog", "--depth", "10", "--record-name", samples.SpanName}, arguments...)...)
}
