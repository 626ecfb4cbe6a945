// Package jsonspan is what walks over spans in JSON have in common.
package jsonspan

import (
	"sync"

	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
	"tracetax/sink/internal/wire/jsonscan"
)

// Walk finds the spans of a message in JSON. Only the fields that place a span in its tree are looked at; all
// others are checked to be JSON and skipped.
type Walk struct {
	RecordName ledger.RecordName
	Scan       jsonscan.Scan
	Batch      *ledger.Batch
	Ledger     *ledger.Ledger
}

// New is a walk that expects records of this name.
func New(recordName string, l *ledger.Ledger) *Walk {
	return &Walk{RecordName: ledger.RecordName(recordName), Batch: ledger.NewBatch(ledger.BatchRecords), Ledger: l}
}

// NewWalks makes walks over whole messages, whose top value is of the format that read takes.
func NewWalks(recordName string, l *ledger.Ledger, read func(*Walk) error) *sync.Pool {
	return httpserver.NewWalks(func() *httpserver.Walk {
		w := New(recordName, l)
		return &httpserver.Walk{Batch: w.Batch, Message: func(message []byte) error {
			w.Scan = jsonscan.Scan{Data: message}
			err := read(w)
			// The message is not kept alive by a walk that waits for the next one.
			w.Scan.Data = nil
			return err
		}}
	})
}

// Span is what is read of a span.
type Span struct {
	Name, Trace, ID, Parent []byte
	Backwards               bool
	More                    uint32 // further executions that it stands for
}

// Enter enters one span whose name is the expected one.
func (w *Walk) Enter(s *Span) {
	r := tree.Record{Backwards: s.Backwards, More: s.More}
	if !place(&r, s.Trace, s.ID, s.Parent) {
		w.Batch.Malformed++
		return
	}
	w.Batch.Records = append(w.Batch.Records, r)
	if len(w.Batch.Records) == ledger.BatchRecords {
		w.Ledger.Apply(w.Batch)
	}
}

// place sets where in which tree a span belongs whose ids are in hexadecimal digits, and reports whether they are
// valid: 16 or 32 digits for the trace, 16 for the span, not all 0. No parent is an empty id, or one of zeros.
func place(r *tree.Record, traceID, spanID, parentID []byte) bool {
	if len(traceID) != 32 && len(traceID) != 16 || len(spanID) != 16 || len(parentID) != 16 && len(parentID) != 0 {
		return false
	}
	half := len(traceID) - 16
	hi, ok1 := jsonscan.Hex(traceID[:half])
	lo, ok2 := jsonscan.Hex(traceID[half:])
	id, ok3 := jsonscan.Hex(spanID)
	up, ok4 := jsonscan.Hex(parentID)
	r.Tree, r.Node = tree.Key{Hi: hi, Lo: lo}, tree.Node{ID: id, Up: up}
	return ok1 && ok2 && ok3 && ok4 && r.Tree != tree.Key{} && r.Node.ID != 0
}
