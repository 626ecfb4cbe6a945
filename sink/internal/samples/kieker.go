// Package samples writes what agents send, as tests state it, and compares what was counted.
package samples

import "encoding/binary"

const (
	Method    = "demo.MonitoredClass.monitoredMethod"
	Signature = "public long demo.MonitoredClass.monitoredMethod(long,int)"
)

// Execution is a Kieker record as a test states it.
type Execution struct {
	Trace            int64
	EOI, ESS         int32
	Start, End       int64
	Signature, Class string
}

// KiekerWriter writes what Kieker's writer puts on the wire.
type KiekerWriter struct {
	Data  []byte
	Ids   map[string]int32
	Apart bool // strings are not written between the records: they are for a map
}

// NewKiekerWriter begins a stream, as Kieker does, with its metadata.
func NewKiekerWriter() *KiekerWriter {
	w := &KiekerWriter{Ids: map[string]int32{}}
	w.Metadata()
	return w
}

// Int32 writes a number of 32 bits.
func (w *KiekerWriter) Int32(v int32) { w.Data = binary.BigEndian.AppendUint32(w.Data, uint32(v)) }

// Int64 writes a number of 64 bits.
func (w *KiekerWriter) Int64(v int64) { w.Data = binary.BigEndian.AppendUint64(w.Data, uint64(v)) }

// ID is a string's number in the registry. A new string is written first.
func (w *KiekerWriter) ID(text string) int32 {
	id, known := w.Ids[text]
	if !known {
		id = int32(len(w.Ids))
		w.Ids[text] = id
		if w.Apart {
			return id
		}
		w.Int32(-1)
		w.Int32(id)
		chars := int32(0)
		for _, r := range text {
			chars++
			if r > 0xffff {
				chars++
			}
		}
		w.Int32(chars)
		w.Data = append(w.Data, text...)
	}
	return id
}

// Record writes a record of a class, with the fields that are given the numbers of its strings.
func (w *KiekerWriter) Record(class string, strings []string, fields func(ids []int32)) {
	classID := w.ID(class)
	ids := make([]int32, len(strings))
	for i, s := range strings {
		ids[i] = w.ID(s)
	}
	w.Int32(classID)
	w.Int64(0)
	fields(ids)
}

// Metadata writes what a stream begins with.
func (w *KiekerWriter) Metadata() {
	texts := []string{"2.0.2", "controller", "host", "NANOSECONDS"}
	w.Record("kieker.common.record.misc.KiekerMetadataRecord", texts, func(ids []int32) {
		w.Int32(ids[0])
		w.Int32(ids[1])
		w.Int32(ids[2])
		w.Int32(1)
		w.Data = append(w.Data, 0)
		w.Int64(0)
		w.Int32(ids[3])
		w.Int64(0)
	})
}

// Execution writes an execution.
func (w *KiekerWriter) Execution(e Execution) {
	if e.Signature == "" {
		e.Signature = Signature
	}
	if e.Class == "" {
		e.Class = "kieker.common.record.controlflow.OperationExecutionRecord"
	}
	w.Record(e.Class, []string{e.Signature, "<no-session>", "host"}, func(ids []int32) {
		w.Int32(ids[0])
		w.Int32(ids[1])
		w.Int64(e.Trace)
		w.Int64(e.Start)
		w.Int64(e.End)
		w.Int32(ids[2])
		w.Int32(e.EOI)
		w.Int32(e.ESS)
	})
}

// Call writes one call of the depth, as a thread does: the inner execution first.
func (w *KiekerWriter) Call(trace int64, depth int) {
	for level := int32(depth) - 1; level >= 0; level-- {
		w.Execution(Execution{Trace: trace, EOI: level, ESS: level, Start: 1, End: 2})
	}
}

// What the events of flow records are called, and what comes before those of a trace.
const (
	BeforeOperation = "kieker.common.record.flow.trace.operation.BeforeOperationEvent"
	AfterOperation  = "kieker.common.record.flow.trace.operation.AfterOperationEvent"
	FailedOperation = "kieker.common.record.flow.trace.operation.AfterOperationFailedEvent"
	TraceMetadata   = "kieker.common.record.flow.trace.TraceMetadata"
)

// Event is one of flow records as a test states it. Class and Operation are those of Method where they are empty.
type Event struct {
	Kind             string
	Trace            int64
	Index            int32
	Time             int64
	Operation, Class string
}

// NewPythonWriter begins a stream as Kieker for Python does: without metadata.
func NewPythonWriter() *KiekerWriter {
	return &KiekerWriter{Ids: map[string]int32{}}
}

// Trace writes what comes before the events of a trace.
func (w *KiekerWriter) Trace(trace int64) {
	w.Record(TraceMetadata, []string{"<no-session-id>", "<default-host>"}, func(ids []int32) {
		w.Int64(trace)
		w.Int64(1)
		w.Int32(ids[0])
		w.Int32(ids[1])
		w.Int64(trace)
		w.Int32(-1)
	})
}

// Event writes an event.
func (w *KiekerWriter) Event(e Event) {
	if e.Class == "" {
		e.Class = "demo.MonitoredClass"
	}
	if e.Operation == "" {
		e.Operation = "monitoredMethod"
	}
	texts := []string{e.Operation, e.Class}
	if e.Kind == FailedOperation {
		texts = append(texts, "ValueError('wrong')")
	}
	w.Record(e.Kind, texts, func(ids []int32) {
		w.Int64(e.Time)
		w.Int64(e.Trace)
		w.Int32(e.Index)
		for _, id := range ids {
			w.Int32(id)
		}
	})
}

// FlowCall writes one call of the depth in events, as Kieker for Python does: it numbers them from 1.
func (w *KiekerWriter) FlowCall(trace int64, depth int) {
	w.Trace(trace)
	for i := range 2 * int32(depth) {
		kind := BeforeOperation
		if int(i) >= depth {
			kind = AfterOperation
		}
		w.Event(Event{Kind: kind, Trace: trace, Index: i + 1, Time: int64(i)})
	}
}
