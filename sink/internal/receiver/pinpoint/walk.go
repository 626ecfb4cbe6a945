package pinpoint

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
	"tracetax/sink/internal/wire/protobuf"
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

	spanTransaction protowire.Number = 2 // of PSpan and PSpanChunk
	spanNumber      protowire.Number = 3
	spanEvents      protowire.Number = 13 // of PSpan
	chunkEvents     protowire.Number = 5  // of PSpanChunk

	transactionSequence protowire.Number = 3 // of PTransactionId

	eventSequence protowire.Number = 1 // of PSpanEvent
	eventDepth    protowire.Number = 2
	eventElapsed  protowire.Number = 4
	eventAPI      protowire.Number = 10

	apiNumber protowire.Number = 1 // of PApiMetaData
	apiName   protowire.Number = 2
)

var errNoMessage = errors.New("no valid message of Pinpoint")

// walk finds the executions of methods in Pinpoint's messages: the events of spans. The span around them is the
// agent's entry point and stands for no execution of its own.
type walk struct {
	ledger *ledger.Ledger
	batch  *ledger.Batch
}

func newWalk(l *ledger.Ledger) *walk {
	return &walk{ledger: l, batch: ledger.NewBatch(0)}
}

// spanMessage enters the events of a PSpanMessage, which is a whole span, or a chunk of one whose end is still to come.
// Of a garbled message none counts.
func (w *walk) spanMessage(message []byte) error {
	err := protobuf.Each(message, func(f protobuf.Field) error {
		switch {
		case f.Kind != protowire.BytesType:
			return nil
		case f.Number == messageSpan:
			return w.span(f.Bytes, spanEvents)
		case f.Number == messageChunk:
			return w.span(f.Bytes, chunkEvents)
		}
		return nil
	})
	if err != nil {
		w.batch.Numbered = w.batch.Numbered[:0]
	}
	return err
}

// span reads a PSpan or a PSpanChunk, whose events are in fields of different numbers.
func (w *walk) span(span []byte, eventsField protowire.Number) error {
	first := len(w.batch.Numbered)
	var tree tree.Key
	var hasTransaction, hasSpan bool
	depth := int32(0)
	err := protobuf.Each(span, func(f protobuf.Field) error {
		switch {
		case f.Number == eventsField && f.Kind == protowire.BytesType:
			return w.event(f.Bytes, &depth)
		case f.Number == spanTransaction && f.Kind == protowire.BytesType:
			hasTransaction = true
			return transaction(f.Bytes, &tree)
		case f.Number == spanNumber && f.Kind == protowire.Fixed64Type:
			hasSpan = true
			tree.Hi = f.Varint
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !hasTransaction || !hasSpan {
		return errNoMessage
	}
	events := w.batch.Numbered[first:]
	for i := range events {
		events[i].Tree = tree
	}
	// They come in the order in which the methods began; the inner one first is the order in which trees are recognised
	// at once.
	slices.Reverse(events)
	return nil
}

// transaction reads a PTransactionId: the agent counts its transactions. Ids of spans are drawn, and tell those of
// several agents apart.
func transaction(id []byte, tree *tree.Key) error {
	return protobuf.Each(id, func(f protobuf.Field) error {
		if f.Number == transactionSequence && f.Kind == protowire.VarintType {
			tree.Lo = f.Varint
		}
		return nil
	})
}

// event reads a PSpanEvent. One that says no depth has that of the event before it.
func (w *walk) event(event []byte, depth *int32) error {
	if len(w.batch.Numbered) == maxSpanEvents {
		return errNoMessage
	}
	var sequence, elapsed, api int32
	err := protobuf.Each(event, func(f protobuf.Field) error {
		if f.Kind != protowire.VarintType {
			return nil
		}
		switch value := int32(f.Varint); f.Number {
		case eventSequence:
			sequence = value
		case eventDepth:
			if value != 0 {
				*depth = value
			}
		case eventElapsed:
			elapsed = value
		case eventAPI:
			api = int32(protowire.DecodeZigZag(f.Varint))
		}
		return nil
	})
	w.batch.Numbered = append(w.batch.Numbered, ledger.Numbered{
		// The outermost has depth 1.
		Record: tree.Record{Node: tree.Node{ID: uint64(sequence), Up: uint64(int64(*depth) - 1)}, Backwards: elapsed < 0},
		Number: uint64(uint32(api)),
	})
	return err
}

// apiName learns a PApiMetaData: the number of a method, and its name with class and parameters.
func (w *walk) apiName(message []byte) error {
	var api ledger.Name
	err := protobuf.Each(message, func(f protobuf.Field) error {
		switch {
		case f.Number == apiNumber && f.Kind == protowire.VarintType:
			api.Number = uint64(uint32(f.Varint))
		case f.Number == apiName && f.Kind == protowire.BytesType:
			api.Name = f.Bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	if api.Number == noMethod || len(api.Name) == 0 {
		return errNoMessage
	}
	w.batch.Names = append(w.batch.Names, api)
	return nil
}
