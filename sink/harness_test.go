package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	testMethod    = "demo.MonitoredClass.monitoredMethod"
	testSignature = "public long demo.MonitoredClass.monitoredMethod(long,int)"
	testSpan      = "MonitoredClass.monitoredMethod"
)

// execution is a Kieker record as a test states it.
type execution struct {
	trace            int64
	eoi, ess         int32
	start, end       int64
	signature, class string
}

// kiekerWriter writes what Kieker's writer puts on the wire.
type kiekerWriter struct {
	data  []byte
	ids   map[string]int32
	apart bool // strings are not written between the records: they are for a map
}

func newKiekerWriter() *kiekerWriter {
	w := &kiekerWriter{ids: map[string]int32{}}
	w.metadata()
	return w
}

func (w *kiekerWriter) int32(v int32) { w.data = binary.BigEndian.AppendUint32(w.data, uint32(v)) }
func (w *kiekerWriter) int64(v int64) { w.data = binary.BigEndian.AppendUint64(w.data, uint64(v)) }

func (w *kiekerWriter) id(text string) int32 {
	id, known := w.ids[text]
	if !known {
		id = int32(len(w.ids))
		w.ids[text] = id
		if w.apart {
			return id
		}
		w.int32(-1)
		w.int32(id)
		chars := int32(0)
		for _, r := range text {
			chars++
			if r > 0xffff {
				chars++
			}
		}
		w.int32(chars)
		w.data = append(w.data, text...)
	}
	return id
}

func (w *kiekerWriter) record(class string, strings []string, fields func(ids []int32)) {
	classID := w.id(class)
	ids := make([]int32, len(strings))
	for i, s := range strings {
		ids[i] = w.id(s)
	}
	w.int32(classID)
	w.int64(0)
	fields(ids)
}

func (w *kiekerWriter) metadata() {
	texts := []string{"2.0.2", "controller", "host", "NANOSECONDS"}
	w.record("kieker.common.record.misc.KiekerMetadataRecord", texts, func(ids []int32) {
		w.int32(ids[0])
		w.int32(ids[1])
		w.int32(ids[2])
		w.int32(1)
		w.data = append(w.data, 0)
		w.int64(0)
		w.int32(ids[3])
		w.int64(0)
	})
}

func (w *kiekerWriter) execution(e execution) {
	if e.signature == "" {
		e.signature = testSignature
	}
	if e.class == "" {
		e.class = "kieker.common.record.controlflow.OperationExecutionRecord"
	}
	w.record(e.class, []string{e.signature, "<no-session>", "host"}, func(ids []int32) {
		w.int32(ids[0])
		w.int32(ids[1])
		w.int64(e.trace)
		w.int64(e.start)
		w.int64(e.end)
		w.int32(ids[2])
		w.int32(e.eoi)
		w.int32(e.ess)
	})
}

// call writes one call of the depth, as a thread does: the inner execution first.
func (w *kiekerWriter) call(trace int64, depth int) {
	for level := int32(depth) - 1; level >= 0; level-- {
		w.execution(execution{trace: trace, eoi: level, ess: level, start: 1, end: 2})
	}
}

// span is an OpenTelemetry span as a test states it.
type span struct {
	trace, id, parent uint64
	name              string
	start, end        uint64
}

func spanBytes(s span) []byte {
	if s.name == "" {
		s.name = testSpan
	}
	var b []byte
	bytesField := func(number protowire.Number, value []byte) {
		b = protowire.AppendTag(b, number, protowire.BytesType)
		b = protowire.AppendBytes(b, value)
	}
	bytesField(1, binary.BigEndian.AppendUint64(make([]byte, 8), s.trace))
	bytesField(2, binary.BigEndian.AppendUint64(nil, s.id))
	if s.parent != 0 {
		bytesField(4, binary.BigEndian.AppendUint64(nil, s.parent))
	}
	bytesField(5, []byte(s.name))
	b = protowire.AppendTag(b, 6, protowire.VarintType)
	b = protowire.AppendVarint(b, 1)
	b = protowire.AppendTag(b, 7, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, s.start)
	b = protowire.AppendTag(b, 8, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, s.end)
	for _, attribute := range [][2]string{{"thread.name", "main"}, {"code.function.name", "demo." + s.name}, {"x", "1"}} {
		value := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte(attribute[1]))
		pair := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte(attribute[0]))
		pair = protowire.AppendBytes(protowire.AppendTag(pair, 2, protowire.BytesType), value)
		bytesField(9, pair)
	}
	bytesField(15, nil)
	b = protowire.AppendTag(b, 16, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, 257)
}

func exportRequest(spans ...span) []byte {
	scope := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte{0x0a, 1, 'x'})
	for _, s := range spans {
		scope = protowire.AppendBytes(protowire.AppendTag(scope, 2, protowire.BytesType), spanBytes(s))
	}
	resource := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), nil)
	resource = protowire.AppendBytes(protowire.AppendTag(resource, 2, protowire.BytesType), scope)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), resource)
}

// callSpans are the spans of one call of the depth, the inner one first.
func callSpans(trace uint64, depth int) []span {
	spans := make([]span, depth)
	for i := range spans {
		s := span{trace: trace, id: trace<<16 | uint64(depth-i), start: 1, end: 2}
		if i < depth-1 {
			s.parent = s.id - 1
		}
		spans[i] = s
	}
	return spans
}

func countKieker(depth int, data []byte) protocolCount {
	l := newLedger(newTreeTable(&executionChain{}, depth, 1000, 8<<20), nil)
	b := newBatch(16)
	if newKiekerStream(testMethod).consume(append([]byte(nil), data...), b) > 0 {
		b.malformed++
	}
	l.apply(b)
	return l.close()
}

func countSpans(depth int, requests ...[]byte) protocolCount {
	l := newLedger(newTreeTable(&spanChain{}, depth, 1000, 8<<20), otlpSignals)
	walk := newSpanWalk(testSpan, l)
	for _, request := range requests {
		if walk.request(request) != nil {
			walk.batch.malformed++
		}
		l.apply(walk.batch)
	}
	return l.close()
}

// expectCount compares two counts but for bytes, requests and times.
func expectCount(t *testing.T, got, want protocolCount) {
	t.Helper()
	got.Bytes, got.FirstArrivalNs, got.LastArrivalNs, got.Requests = 0, 0, 0, 0
	if want.OtherBytes == nil {
		want.OtherBytes = got.OtherBytes
	}
	if len(want.Unexpected) == 0 && len(got.Unexpected) == 0 {
		want.Unexpected = got.Unexpected
	}
	g, _ := json.MarshalIndent(got, "", " ")
	w, _ := json.MarshalIndent(want, "", " ")
	if string(g) != string(w) {
		t.Errorf("counted %s\nexpected %s", g, w)
	}
}

// running is a sink driven through its main function.
type running struct {
	t        *testing.T
	stdin    io.WriteCloser
	answers  *json.Decoder
	ports    map[string]int
	finished chan int
}

func start(t *testing.T, arguments ...string) *running {
	t.Helper()
	stdinRead, stdinWrite := io.Pipe()
	stdoutRead, stdoutWrite := io.Pipe()
	// The buffer takes every answer whole: the decoder alone may leave a line's end unread, on which the sink would wait.
	answers := json.NewDecoder(bufio.NewReaderSize(stdoutRead, 64<<10))
	r := &running{t: t, stdin: stdinWrite, answers: answers, finished: make(chan int, 1)}
	go func() {
		status := run(arguments, stdinRead, stdoutWrite, io.Discard)
		stdoutWrite.Close()
		r.finished <- status
	}()
	t.Cleanup(func() { stdinWrite.Close(); stdoutRead.Close() })
	var hello greeting
	r.read(&hello)
	r.ports = hello.Ports
	return r
}

func (r *running) read(answer any) {
	r.t.Helper()
	if err := r.answers.Decode(answer); err != nil {
		r.t.Fatalf("no answer: %v", err)
	}
}

func (r *running) ask(command string, answer any) {
	r.t.Helper()
	if _, err := io.WriteString(r.stdin, command+"\n"); err != nil {
		r.t.Fatalf("the sink takes no command: %v", err)
	}
	r.read(answer)
}

// await polls the counts until they satisfy the condition.
func (r *running) await(what string, condition func(counts) bool) {
	r.t.Helper()
	var c counts
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		r.ask("counts", &c)
		if condition(c) {
			return
		}
	}
	r.t.Fatalf("never %s: %+v", what, c)
}

func (r *running) stop() report {
	r.t.Helper()
	var last report
	r.ask("stop", &last)
	if status := <-r.finished; status != 0 {
		r.t.Errorf("exit status %d", status)
	}
	return last
}

func (r *running) dial(protocol string) net.Conn {
	r.t.Helper()
	conn, err := net.DialTCP("tcp4", nil, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: r.ports[protocol]})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return conn
}
