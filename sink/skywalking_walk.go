package main

import (
	"hash/maphash"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
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

// segmentWalk finds the spans of a SegmentObject in its bytes. A segment's id is text of any length; its tree is known
// by two hashes of it with seeds of their own, 128 bits together.
type segmentWalk struct {
	recordName string
	seeds      [2]maphash.Seed
	batch      *batch
	ledger     *ledger
}

func newSegmentWalk(recordName string, seeds [2]maphash.Seed, l *ledger) *segmentWalk {
	return &segmentWalk{recordName: recordName, seeds: seeds, batch: newBatch(spansPerBatch), ledger: l}
}

// segment enters the spans of a segment. Of a message that is cut or garbled, the spans before the fault count.
func (w *segmentWalk) segment(message []byte) error {
	var id []byte
	limited, spans := false, false
	// The id may stand behind the spans, so they are passed twice. A fault ends both passes at the same place.
	_ = eachProtoField(message, func(f protoField) error {
		switch {
		case f.number == segmentID && f.kind == protowire.BytesType:
			id = f.bytes
		case f.number == segmentSpan && f.kind == protowire.BytesType:
			spans = true
		case f.number == segmentIsLimited && f.kind == protowire.VarintType:
			limited = f.varint != 0
		}
		return nil
	})
	if limited && spans {
		w.batch.limited++
	}
	var tree treeKey
	if len(id) > 0 {
		tree = treeKey{hi: maphash.Bytes(w.seeds[0], id), lo: maphash.Bytes(w.seeds[1], id)}
	}
	return eachProtoField(message, func(f protoField) error {
		if f.number != segmentSpan || f.kind != protowire.BytesType {
			return nil
		}
		return w.span(tree, len(id) > 0, f.bytes)
	})
}

// span enters one span of a tree, if that has an id. Spans count from 0, and protobuf leaves a 0 out; in the tree they
// count from 1, for there 0 means that there is no parent.
func (w *segmentWalk) span(tree treeKey, identified bool, data []byte) error {
	var id, parent int32
	var start, end int64
	var operation []byte
	referring := false
	err := eachProtoField(data, func(f protoField) error {
		switch f.kind {
		case protowire.VarintType:
			switch f.number {
			case segmentSpanID:
				id = int32(f.varint)
			case segmentSpanParent:
				parent = int32(f.varint)
			case segmentSpanStart:
				start = int64(f.varint)
			case segmentSpanEnd:
				end = int64(f.varint)
			}
		case protowire.BytesType:
			switch f.number {
			case segmentSpanReference:
				referring = true
			case segmentSpanOperation:
				operation = f.bytes
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if string(operation) != w.recordName {
		w.batch.unexpected.add(operation)
		return nil
	}
	if !identified || id < 0 || parent < noParent {
		w.batch.malformed++
		return nil
	}
	r := record{tree: tree, backwards: end < start}
	r.node = node{id: uint64(id) + 1, up: uint64(parent - noParent)}
	if parent == noParent && referring {
		r.node.up = elsewhere
	}
	w.batch.records = append(w.batch.records, r)
	if len(w.batch.records) == spansPerBatch {
		w.ledger.apply(w.batch)
	}
	return nil
}
