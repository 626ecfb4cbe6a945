package samples

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// SpanName is the name of the expected spans.
const SpanName = "MonitoredClass.monitoredMethod"

// Span is an OpenTelemetry span as a test states it.
type Span struct {
	Trace, ID, Parent uint64
	Name              string
	Start, End        uint64
}

// SpanBytes is a span in OTLP's protobuf, with the fields that the Java agent sends.
func SpanBytes(s Span) []byte {
	if s.Name == "" {
		s.Name = SpanName
	}
	var b []byte
	bytesField := func(number protowire.Number, value []byte) {
		b = protowire.AppendTag(b, number, protowire.BytesType)
		b = protowire.AppendBytes(b, value)
	}
	bytesField(1, binary.BigEndian.AppendUint64(make([]byte, 8), s.Trace))
	bytesField(2, binary.BigEndian.AppendUint64(nil, s.ID))
	if s.Parent != 0 {
		bytesField(4, binary.BigEndian.AppendUint64(nil, s.Parent))
	}
	bytesField(5, []byte(s.Name))
	b = protowire.AppendTag(b, 6, protowire.VarintType)
	b = protowire.AppendVarint(b, 1)
	b = protowire.AppendTag(b, 7, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, s.Start)
	b = protowire.AppendTag(b, 8, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, s.End)
	for _, attribute := range [][2]string{{"thread.name", "main"}, {"code.function.name", "demo." + s.Name}, {"x", "1"}} {
		value := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte(attribute[1]))
		pair := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte(attribute[0]))
		pair = protowire.AppendBytes(protowire.AppendTag(pair, 2, protowire.BytesType), value)
		bytesField(9, pair)
	}
	bytesField(15, nil)
	b = protowire.AppendTag(b, 16, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, 257)
}

// ExportRequest is an ExportTraceServiceRequest with these spans.
func ExportRequest(spans ...Span) []byte {
	scope := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), []byte{0x0a, 1, 'x'})
	for _, s := range spans {
		scope = protowire.AppendBytes(protowire.AppendTag(scope, 2, protowire.BytesType), SpanBytes(s))
	}
	resource := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), nil)
	resource = protowire.AppendBytes(protowire.AppendTag(resource, 2, protowire.BytesType), scope)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), resource)
}

// CallSpans are the spans of one call of the depth, the inner one first.
func CallSpans(trace uint64, depth int) []Span {
	spans := make([]Span, depth)
	for i := range spans {
		s := Span{Trace: trace, ID: trace<<16 | uint64(depth-i), Start: 1, End: 2}
		if i < depth-1 {
			s.Parent = s.ID - 1
		}
		spans[i] = s
	}
	return spans
}

// HexTrace is a span's trace id in 32 digits.
func HexTrace(s Span) string { return fmt.Sprintf("%032x", s.Trace) }

// HexID is a span's id in 16 digits, and empty for none.
func HexID(id uint64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", id)
}

// Calls are the spans of so many calls, a trace each.
func Calls(from, count uint64, depth int) []Span {
	var spans []Span
	for trace := from; trace < from+count; trace++ {
		spans = append(spans, CallSpans(trace, depth)...)
	}
	return spans
}
