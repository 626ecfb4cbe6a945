package main

import "sync"

// jsonWalk finds the spans of a message in JSON. Only the fields that place a span in its tree are looked at; all
// others are checked to be JSON and skipped.
type jsonWalk struct {
	recordName []byte
	scan       jsonScan
	batch      *batch
	ledger     *ledger
}

func newJSONWalk(recordName string, l *ledger) *jsonWalk {
	return &jsonWalk{recordName: []byte(recordName), batch: newBatch(spansPerBatch), ledger: l}
}

// newJSONWalks makes walks over whole messages, whose top value is of the format that read takes.
func newJSONWalks(recordName string, l *ledger, read func(*jsonWalk) error) *sync.Pool {
	return newWalks(func() *walk {
		w := newJSONWalk(recordName, l)
		return &walk{batch: w.batch, message: func(message []byte) error {
			w.scan = jsonScan{data: message}
			err := read(w)
			// The message is not kept alive by a walk that waits for the next one.
			w.scan.data = nil
			return err
		}}
	})
}

// jsonSpan is what is read of a span.
type jsonSpan struct {
	name, trace, id, parent []byte
	backwards               bool
	more                    uint32 // further executions that it stands for
}

// enter enters one span whose name is the expected one.
func (w *jsonWalk) enter(s *jsonSpan) {
	r := record{backwards: s.backwards, more: s.more}
	if !placeHex(&r, s.trace, s.id, s.parent) {
		w.batch.malformed++
		return
	}
	w.batch.records = append(w.batch.records, r)
	if len(w.batch.records) == spansPerBatch {
		w.ledger.apply(w.batch)
	}
}
