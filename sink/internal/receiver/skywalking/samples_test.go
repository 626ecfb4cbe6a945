package skywalking

import (
	"fmt"
	"hash/maphash"

	"google.golang.org/protobuf/encoding/protowire"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

// segmentPart is a SkyWalking span as a test states it.
type segmentPart struct {
	id, parent int32
	operation  string
	start, end int64
	referring  bool
}

// segmentMessage is a SkyWalking segment as a test states it.
type segmentMessage struct {
	id      string
	spans   []segmentPart
	limited bool
}

type protoWriter []byte

func (w *protoWriter) varint(number protowire.Number, value uint64) {
	// As protobuf's third version writes numbers: a 0 is left out.
	if value != 0 {
		*w = protowire.AppendVarint(protowire.AppendTag(*w, number, protowire.VarintType), value)
	}
}

func (w *protoWriter) bytes(number protowire.Number, value []byte) {
	*w = protowire.AppendBytes(protowire.AppendTag(*w, number, protowire.BytesType), value)
}

func segmentPartBytes(s segmentPart) []byte {
	if s.operation == "" {
		s.operation = samples.SpanName
	}
	if s.start == 0 {
		s.start, s.end = 1_760_000_000_000, 1_760_000_000_000+s.end
	}
	var w protoWriter
	w.varint(1, uint64(int64(s.id)))
	w.varint(2, uint64(int64(s.parent)))
	w.varint(3, uint64(s.start))
	w.varint(4, uint64(s.end))
	if s.referring {
		var reference protoWriter
		reference.bytes(2, []byte("trace"))
		reference.bytes(3, []byte("another segment"))
		w.bytes(5, reference)
	}
	w.bytes(6, []byte(s.operation))
	w.varint(8, 2) // a local span
	return w
}

// segmentFields are the fields of a segment's message, one by one, in the order in which the agent writes them.
func segmentFields(s segmentMessage) [][]byte {
	var fields [][]byte
	add := func(write func(*protoWriter)) {
		var w protoWriter
		if write(&w); len(w) > 0 {
			fields = append(fields, w)
		}
	}
	add(func(w *protoWriter) { w.bytes(1, []byte("t."+s.id)) })
	if s.id != "" {
		add(func(w *protoWriter) { w.bytes(2, []byte(s.id)) })
	}
	for _, span := range s.spans {
		add(func(w *protoWriter) { w.bytes(3, segmentPartBytes(span)) })
	}
	add(func(w *protoWriter) { w.bytes(4, []byte("tracetax")) })
	add(func(w *protoWriter) { w.bytes(5, []byte("0d2f6b0c41b04d4a8f6d2f8f4b4b5c61@10.0.0.1")) })
	if s.limited {
		add(func(w *protoWriter) { w.varint(6, 1) })
	}
	return fields
}

func segmentBytes(s segmentMessage) []byte {
	var message []byte
	for _, field := range segmentFields(s) {
		message = append(message, field...)
	}
	return message
}

// callSegment is the segment of one call of the depth, the inner span first, as spans are added when they end.
func callSegment(call, depth int) segmentMessage {
	s := segmentMessage{id: fmt.Sprintf("4f6b0c41b04d4a8f6d2f8f4b4b5c610d.1.%d", 17_600_000_000_000_000+call)}
	for level := depth - 1; level >= 0; level-- {
		s.spans = append(s.spans, segmentPart{id: int32(level), parent: int32(level) - 1})
	}
	return s
}

var testSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func count(depth int, segments ...[]byte) account.Account {
	l := ledger.New(tree.NewTable(Protocol.Structure(), depth, 1000, 8<<20), Protocol.Signals)
	walk := newWalk(samples.SpanName, testSeeds, l)
	for _, segment := range segments {
		if walk.segment(segment) != nil {
			walk.batch.Malformed++
		}
		l.Apply(walk.batch)
	}
	return l.Close()
}
