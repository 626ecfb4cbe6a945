package main

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// maxSpanEvents is how many events one message may bring. The agent sends what it has after 20, as shipped.
	maxSpanEvents = 4096
	// noMethod is the number of an event that names no method.
	noMethod = 0
)

// Fields that the walk looks at.
const (
	messageSpan  protowire.Number = 1 // of PSpanMessage
	messageChunk protowire.Number = 2

	pinpointTransaction protowire.Number = 2 // of PSpan and PSpanChunk
	pinpointSpanID      protowire.Number = 3
	spanEvents          protowire.Number = 13 // of PSpan
	chunkEvents         protowire.Number = 5  // of PSpanChunk

	transactionSequence protowire.Number = 3 // of PTransactionId

	eventSequence protowire.Number = 1 // of PSpanEvent
	eventDepth    protowire.Number = 2
	eventElapsed  protowire.Number = 4
	eventAPI      protowire.Number = 10

	apiNumber protowire.Number = 1 // of PApiMetaData
	apiName   protowire.Number = 2
)

var errNoPinpoint = errors.New("no valid message of Pinpoint")

// pinpointWalk finds the executions of methods in Pinpoint's messages: the events of spans. The span around them is the
// agent's entry point and stands for no execution of its own.
type pinpointWalk struct {
	ledger *ledger
	batch  *batch
}

func newPinpointWalk(l *ledger) *pinpointWalk {
	return &pinpointWalk{ledger: l, batch: newBatch(0)}
}

// spanMessage enters the events of a PSpanMessage, which is a whole span, or a chunk of one whose end is still to come.
// Of a garbled message none counts.
func (w *pinpointWalk) spanMessage(message []byte) error {
	err := eachProtoField(message, func(f protoField) error {
		switch {
		case f.kind != protowire.BytesType:
			return nil
		case f.number == messageSpan:
			return w.span(f.bytes, spanEvents)
		case f.number == messageChunk:
			return w.span(f.bytes, chunkEvents)
		}
		return nil
	})
	if err != nil {
		w.batch.numbered = w.batch.numbered[:0]
	}
	return err
}

// span reads a PSpan or a PSpanChunk, whose events are in fields of different numbers.
func (w *pinpointWalk) span(span []byte, eventsField protowire.Number) error {
	first := len(w.batch.numbered)
	var tree treeKey
	var hasTransaction, hasSpan bool
	depth := int32(0)
	err := eachProtoField(span, func(f protoField) error {
		switch {
		case f.number == eventsField && f.kind == protowire.BytesType:
			return w.event(f.bytes, &depth)
		case f.number == pinpointTransaction && f.kind == protowire.BytesType:
			hasTransaction = true
			return transaction(f.bytes, &tree)
		case f.number == pinpointSpanID && f.kind == protowire.Fixed64Type:
			hasSpan = true
			tree.hi = f.varint
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !hasTransaction || !hasSpan {
		return errNoPinpoint
	}
	events := w.batch.numbered[first:]
	for i := range events {
		events[i].tree = tree
	}
	// They come in the order in which the methods began; the inner one first is the order in which trees are recognised
	// at once.
	slices.Reverse(events)
	return nil
}

// transaction reads a PTransactionId: the agent counts its transactions. Ids of spans are drawn, and tell those of
// several agents apart.
func transaction(id []byte, tree *treeKey) error {
	return eachProtoField(id, func(f protoField) error {
		if f.number == transactionSequence && f.kind == protowire.VarintType {
			tree.lo = f.varint
		}
		return nil
	})
}

// event reads a PSpanEvent. One that says no depth has that of the event before it.
func (w *pinpointWalk) event(event []byte, depth *int32) error {
	if len(w.batch.numbered) == maxSpanEvents {
		return errNoPinpoint
	}
	var sequence, elapsed, api int32
	err := eachProtoField(event, func(f protoField) error {
		if f.kind != protowire.VarintType {
			return nil
		}
		switch value := int32(f.varint); f.number {
		case eventSequence:
			sequence = value
		case eventDepth:
			if value != 0 {
				*depth = value
			}
		case eventElapsed:
			elapsed = value
		case eventAPI:
			api = int32(protowire.DecodeZigZag(f.varint))
		}
		return nil
	})
	w.batch.numbered = append(w.batch.numbered, numbered{
		// The outermost has depth 1.
		record: record{node: node{id: uint64(sequence), up: uint64(int64(*depth) - 1)}, backwards: elapsed < 0},
		number: uint64(uint32(api)),
	})
	return err
}

// apiName learns a PApiMetaData: the number of a method, and its name with class and parameters.
func (w *pinpointWalk) apiName(message []byte) error {
	var api numberName
	err := eachProtoField(message, func(f protoField) error {
		switch {
		case f.number == apiNumber && f.kind == protowire.VarintType:
			api.number = uint64(uint32(f.varint))
		case f.number == apiName && f.kind == protowire.BytesType:
			api.name = f.bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	if api.number == noMethod || len(api.name) == 0 {
		return errNoPinpoint
	}
	w.batch.names = append(w.batch.names, api)
	return nil
}
