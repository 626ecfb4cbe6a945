package otlp

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
)

// Tags of the fields that the walk looks at: field number << 3 | wire type.
const (
	tagResourceSpans = 1<<3 | 2 // of ExportTraceServiceRequest
	tagScopeSpans    = 2<<3 | 2 // of ResourceSpans
	tagScope         = 1<<3 | 2 // of ScopeSpans
	tagSpan          = 2<<3 | 2
	tagScopeName     = 1<<3 | 2 // of InstrumentationScope

	tagTraceID      = 1<<3 | 2
	tagSpanID       = 2<<3 | 2
	tagParentSpanID = 4<<3 | 2
	tagName         = 5<<3 | 2
	tagKind         = 6 << 3 // a number
	tagStart        = 7<<3 | 1
	tagEnd          = 8<<3 | 1
	tagAttribute    = 9<<3 | 2
	tagStatus       = 15<<3 | 2
	tagFlags        = 16<<3 | 5 // takes two bytes
)

var errMalformed = errors.New("no valid OTLP message")

// walk finds the spans of an ExportTraceServiceRequest in its bytes. Only the fields that place a span in its tree
// are looked at; all others are skipped unread.
type walk struct {
	recordName ledger.RecordName
	batch      *ledger.Batch
	ledger     *ledger.Ledger
}

func newWalk(recordName string, l *ledger.Ledger) *walk {
	return &walk{recordName: ledger.RecordName(recordName), batch: ledger.NewBatch(ledger.BatchRecords), ledger: l}
}

// request enters all spans of the message. Of a message that is cut or garbled, the spans before the fault count.
func (w *walk) request(message []byte) error {
	return eachField(message, func(tag uint64, resourceSpans []byte) error {
		if tag != tagResourceSpans {
			return nil
		}
		return eachField(resourceSpans, func(tag uint64, scopeSpans []byte) error {
			if tag != tagScopeSpans {
				return nil
			}
			return w.spans(scopeSpans)
		})
	})
}

// spans enters the spans of a scope, and how many they are under its name. The length of most takes two bytes.
func (w *walk) spans(scope []byte) error {
	var made int64
	var name []byte
	for len(scope) > 0 {
		var span []byte
		var size int
		if len(scope) > 3 && scope[0] == tagSpan && scope[1] >= 0x80 && scope[2] < 0x80 {
			size = 3 + (int(scope[1]&0x7f) | int(scope[2])<<7)
		}
		if size > 0 && size <= len(scope) {
			span = scope[3:size]
		} else {
			var tag uint64
			if tag, span, size = field(scope); size <= 0 {
				return errMalformed
			}
			if tag == tagScope {
				if name = scopeName(span); name == nil {
					return errMalformed
				}
			}
			if tag != tagSpan {
				span = nil
			}
		}
		if span != nil {
			if err := w.span(span); err != nil {
				return err
			}
			made++
		}
		scope = scope[size:]
	}
	if made > 0 && len(name) > 0 {
		w.batch.Scopes.AddBytes(name, made)
	}
	return nil
}

// scopeName is the name of an instrumentation scope, empty where it has none, and nil where it cannot be read.
func scopeName(scope []byte) []byte {
	name := []byte{}
	if eachField(scope, func(tag uint64, value []byte) error {
		if tag == tagScopeName {
			name = value
		}
		return nil
	}) != nil {
		return nil
	}
	return name
}

// eachField calls visit with every field of a message that has a length; the others are skipped.
func eachField(message []byte, visit func(tag uint64, value []byte) error) error {
	for len(message) > 0 {
		tag, value, size := field(message)
		if size <= 0 {
			return errMalformed
		}
		message = message[size:]
		if value != nil {
			if err := visit(tag, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// field reads any field and returns its tag, its value if that has a length or is 8 bytes wide, and its size;
// a size below 1 says that there is none.
func field(data []byte) (tag uint64, value []byte, size int) {
	number, kind, head := protowire.ConsumeTag(data)
	if head < 0 {
		return 0, nil, -1
	}
	size = protowire.ConsumeFieldValue(number, kind, data[head:])
	if size < 0 {
		return 0, nil, -1
	}
	tag = protowire.EncodeTag(number, kind)
	size += head
	switch kind {
	case protowire.BytesType:
		value, _ = protowire.ConsumeBytes(data[head:size])
	case protowire.Fixed64Type:
		value = data[head:size]
	}
	return tag, value, size
}

// shortValue returns the value behind a tag of one byte if its length takes one byte too, or else nil. It is small
// enough to be inlined.
func shortValue(data []byte) []byte {
	if len(data) < 2 || data[1] >= 0x80 || 2+int(data[1]) > len(data) {
		return nil
	}
	return data[2 : 2+int(data[1])]
}

// span enters one span. Its fields as exporters write them are read here, all others by field.
func (w *walk) span(data []byte) error {
	var traceID, spanID, parentID, name []byte
	var start, end uint64
	for len(data) > 0 {
		switch data[0] {
		case tagTraceID:
			if value := shortValue(data); value != nil {
				traceID = value
				data = data[2+len(value):]
				continue
			}
		case tagSpanID:
			if value := shortValue(data); value != nil {
				spanID = value
				data = data[2+len(value):]
				continue
			}
		case tagParentSpanID:
			if value := shortValue(data); value != nil {
				parentID = value
				data = data[2+len(value):]
				continue
			}
		case tagName:
			if value := shortValue(data); value != nil {
				name = value
				data = data[2+len(value):]
				continue
			}
		case tagAttribute, tagStatus:
			if value := shortValue(data); value != nil {
				data = data[2+len(value):]
				continue
			}
		case tagKind:
			if len(data) > 1 && data[1] < 0x80 {
				data = data[2:]
				continue
			}
		case tagStart:
			if len(data) >= 9 {
				start = binary.LittleEndian.Uint64(data[1:])
				data = data[9:]
				continue
			}
		case tagEnd:
			if len(data) >= 9 {
				end = binary.LittleEndian.Uint64(data[1:])
				data = data[9:]
				continue
			}
		case tagFlags & 0xff:
			if len(data) >= 6 && data[1] == tagFlags>>7 {
				data = data[6:]
				continue
			}
		}
		tag, value, size := field(data)
		if size <= 0 {
			return errMalformed
		}
		data = data[size:]
		switch tag {
		case tagTraceID:
			traceID = value
		case tagSpanID:
			spanID = value
		case tagParentSpanID:
			parentID = value
		case tagName:
			name = value
		case tagStart:
			start = binary.LittleEndian.Uint64(value)
		case tagEnd:
			end = binary.LittleEndian.Uint64(value)
		}
	}
	if !w.recordName.Is(name) {
		w.batch.Unexpected.Add(name)
		return nil
	}
	r := tree.Record{Backwards: end < start}
	if !place(&r, traceID, spanID, parentID) {
		w.batch.Malformed++
		return nil
	}
	w.batch.Records = append(w.batch.Records, r)
	if len(w.batch.Records) == ledger.BatchRecords {
		w.ledger.Apply(w.batch)
	}
	return nil
}

// place sets where in which tree the span belongs, and reports whether its ids are valid: 16 and 8 bytes, not all 0.
// No parent is an empty id, or one of zeros.
func place(r *tree.Record, traceID, spanID, parentID []byte) bool {
	if len(traceID) != 16 || len(spanID) != 8 || len(parentID) != 8 && len(parentID) != 0 {
		return false
	}
	r.Tree = tree.Key{Hi: binary.BigEndian.Uint64(traceID), Lo: binary.BigEndian.Uint64(traceID[8:])}
	r.Node.ID = binary.BigEndian.Uint64(spanID)
	if len(parentID) == 8 {
		r.Node.Up = binary.BigEndian.Uint64(parentID)
	}
	return r.Tree != tree.Key{} && r.Node.ID != 0
}
