package skywalking

import (
	"hash/maphash"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
	"tracetax/sink/internal/wire/protobuf"
)

// Fields that the walk looks at.
const (
	segmentID        protowire.Number = 2 // of SegmentObject
	segmentSpan      protowire.Number = 3
	segmentIsLimited protowire.Number = 6

	segmentSpanID        protowire.Number = 1 // of SpanObject
	segmentSpanParent    protowire.Number = 2
	segmentSpanStart     protowire.Number = 3
	segmentSpanEnd       protowire.Number = 4
	segmentSpanReference protowire.Number = 5
	segmentSpanOperation protowire.Number = 6
)

const (
	// noParent is the parent that the root of a segment names.
	noParent = -1
	// elsewhere is the place of a parent in another segment. No span has it.
	elsewhere = math.MaxUint64
)

// walk finds the spans of a SegmentObject in its bytes. A segment's id is text of any length; its tree is known
// by two hashes of it with seeds of their own, 128 bits together.
type walk struct {
	recordName string
	seeds      [2]maphash.Seed
	batch      *ledger.Batch
	ledger     *ledger.Ledger
}

func newWalk(recordName string, seeds [2]maphash.Seed, l *ledger.Ledger) *walk {
	return &walk{recordName: recordName, seeds: seeds, batch: ledger.NewBatch(ledger.BatchRecords), ledger: l}
}

// segment enters the spans of a segment. Of a message that is cut or garbled, the spans before the fault count.
func (w *walk) segment(message []byte) error {
	var id []byte
	limited, spans := false, false
	// The id may stand behind the spans, so they are passed twice. A fault ends both passes at the same place.
	_ = protobuf.Each(message, func(f protobuf.Field) error {
		switch {
		case f.Number == segmentID && f.Kind == protowire.BytesType:
			id = f.Bytes
		case f.Number == segmentSpan && f.Kind == protowire.BytesType:
			spans = true
		case f.Number == segmentIsLimited && f.Kind == protowire.VarintType:
			limited = f.Varint != 0
		}
		return nil
	})
	if limited && spans {
		w.batch.Limited++
	}
	var key tree.Key
	if len(id) > 0 {
		key = tree.Key{Hi: maphash.Bytes(w.seeds[0], id), Lo: maphash.Bytes(w.seeds[1], id)}
	}
	return protobuf.Each(message, func(f protobuf.Field) error {
		if f.Number != segmentSpan || f.Kind != protowire.BytesType {
			return nil
		}
		return w.span(key, len(id) > 0, f.Bytes)
	})
}

// span enters one span of a tree, if that has an id. Spans count from 0, and protobuf leaves a 0 out; in the tree they
// count from 1, for there 0 means that there is no parent.
func (w *walk) span(key tree.Key, identified bool, data []byte) error {
	var id, parent int32
	var start, end int64
	var operation []byte
	referring := false
	err := protobuf.Each(data, func(f protobuf.Field) error {
		switch f.Kind {
		case protowire.VarintType:
			switch f.Number {
			case segmentSpanID:
				id = int32(f.Varint)
			case segmentSpanParent:
				parent = int32(f.Varint)
			case segmentSpanStart:
				start = int64(f.Varint)
			case segmentSpanEnd:
				end = int64(f.Varint)
			}
		case protowire.BytesType:
			switch f.Number {
			case segmentSpanReference:
				referring = true
			case segmentSpanOperation:
				operation = f.Bytes
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if string(operation) != w.recordName {
		w.batch.Unexpected.Add(operation)
		return nil
	}
	if !identified || id < 0 || parent < noParent {
		w.batch.Malformed++
		return nil
	}
	r := tree.Record{Tree: key, Backwards: end < start}
	r.Node = tree.Node{ID: uint64(id) + 1, Up: uint64(parent - noParent)}
	if parent == noParent && referring {
		r.Node.Up = elsewhere
	}
	w.batch.Records = append(w.batch.Records, r)
	if len(w.batch.Records) == ledger.BatchRecords {
		w.ledger.Apply(w.batch)
	}
	return nil
}
