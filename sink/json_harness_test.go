package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"sync"
)

func hexTrace(s span) string { return fmt.Sprintf("%032x", s.trace) }

func hexID(id uint64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", id)
}

// zipkinList is what OpenTelemetry's exporter for Zipkin sends.
func zipkinList(spans ...span) []byte {
	list := make([]string, len(spans))
	for i, s := range spans {
		if s.name == "" {
			s.name = strings.ToLower(testSpan)
		}
		parent := ""
		if s.parent != 0 {
			parent = fmt.Sprintf(`"parentId":"%016x",`, s.parent)
		}
		list[i] = fmt.Sprintf(`{"traceId":"%s",%s"id":"%016x","name":%q,"timestamp":1700000000000000,"duration":1,`+
			`"localEndpoint":{"serviceName":"tracetax","ipv4":"127.0.0.1"},"tags":{"code.function.name":"demo.MonitoredClass.monitoredMethod",`+
			`"otel.library.name":"io.opentelemetry.methods","otel.scope.name":"io.opentelemetry.methods","thread.id":"1","thread.name":"main"}}`,
			hexTrace(s), parent, s.id, s.name)
	}
	return []byte("[" + strings.Join(list, ",") + "]")
}

// otlpJSON is an ExportTraceServiceRequest in JSON.
func otlpJSON(spans ...span) []byte {
	list := make([]string, len(spans))
	for i, s := range spans {
		if s.name == "" {
			s.name = testSpan
		}
		list[i] = fmt.Sprintf(`{"traceId":"%s","spanId":"%016x","parentSpanId":%q,"flags":257,"name":%q,"kind":1,`+
			`"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"thread.name","value":{"stringValue":"main"}},`+
			`{"key":"thread.id","value":{"intValue":"1"}}],"status":{}}`,
			hexTrace(s), s.id, hexID(s.parent), s.name, s.start, s.end)
	}
	return []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"tracetax"}}]},` +
		`"scopeSpans":[{"scope":{"name":"x"},"spans":[` + strings.Join(list, ",") + `]}]}]}`)
}

const (
	testEvent    = "MonitoredClass#monitoredMethod"
	metadataLine = `{"metadata":{"service":{"name":"tracetax","agent":{"name":"java","version":"1.55.1"}},"process":{"pid":7}}}` + "\n"
	metricLine   = `{"metricset":{"timestamp":1700000000000000,"samples":{"system.cpu.total.norm.pct":{"value":0.25}}}}` + "\n"
)

// elasticLines are the events of spans, those without a parent as transactions.
func elasticLines(spans ...span) string {
	var lines strings.Builder
	for _, s := range spans {
		if s.name == "" {
			s.name = testEvent
		}
		if s.parent == 0 {
			fmt.Fprintf(&lines, `{"transaction":{"timestamp":1700000000000000,"name":%q,"id":"%016x","trace_id":"%s","type":"custom",`+
				`"duration":0.002,"outcome":"success","context":{"service":{"name":"tracetax"}},"span_count":{"dropped":0,"started":9},`+
				`"sample_rate":1.0,"sampled":true}}`+"\n", s.name, s.id, hexTrace(s))
			continue
		}
		fmt.Fprintf(&lines, `{"span":{"name":%q,"timestamp":1700000000000000,"duration":0.001,"id":"%016x","transaction_id":"00000000000000aa",`+
			`"trace_id":"%s","parent_id":"%016x","outcome":"success","sample_rate":1.0,"type":"app","context":{"service":{"name":"x"}}}}`+"\n",
			s.name, s.id, hexTrace(s), s.parent)
	}
	return lines.String()
}

func calls(from, count uint64, depth int) []span {
	var spans []span
	for trace := from; trace < from+count; trace++ {
		spans = append(spans, callSpans(trace, depth)...)
	}
	return spans
}

func countJSON(depth int, walks func(string, *ledger) *sync.Pool, messages ...[]byte) protocolCount {
	l := newLedger(newTreeTable(&spanChain{}, depth, 1000, 8<<20), otlpSignals)
	w := walks(testSpan, l).Get().(*walk)
	for _, message := range messages {
		if w.message(bytes.Clone(message)) != nil {
			w.batch.malformed++
		}
		l.apply(w.batch)
	}
	return l.close()
}

func countZipkin(depth int, messages ...[]byte) protocolCount {
	return countJSON(depth, newZipkinWalks, messages...)
}

func countOTLPJSON(depth int, messages ...[]byte) protocolCount {
	return countJSON(depth, newOTLPJSONWalks, messages...)
}

// countElastic reads one request in pieces of the given size.
func countElastic(depth, piece int, text []byte) protocolCount {
	l := newLedger(newTreeTable(&spanChain{}, depth, 1000, 8<<20), elastic.signals)
	in := newIntakes(testEvent, l, newMessages(1<<20, 4<<20)).Get().(*intake)
	_ = in.read(&pieces{text: text, size: piece}, "", func() {})
	return l.close()
}

// pieces is a body that arrives in pieces.
type pieces struct {
	text []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(p.size, len(b))], p.text)
	p.text = p.text[n:]
	return n, nil
}

var compressions = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
}

func compressed(encoding string, text []byte) []byte {
	var body bytes.Buffer
	w := compressions[encoding](&body)
	// A buffer takes everything.
	_, _ = w.Write(text)
	_ = w.Close()
	return body.Bytes()
}
