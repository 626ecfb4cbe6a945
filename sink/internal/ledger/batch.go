package ledger

import (
	"tracetax/sink/internal/account"
	"tracetax/sink/internal/tree"
)

// Batch is what a connection or a message has brought since it last told the ledger: the ledger is locked once per
// batch, not once per record.
type Batch struct {
	ArrivalNs  int64
	Records    []tree.Record
	Numbered   []Numbered // records whose names come apart
	Names      []Name     // these names
	Unexpected account.NameCounts
	Scopes     account.NameCounts // records by what has made them
	Bytes      int64
	Counted    int64 // executions that are known by their number alone
	Requests   int64
	Malformed  int64
	CutOff     int64
	Drops      int64 // records that the agent says it has not made or sent
	Limited    int64 // trees that the agent says it has limited in size
	Left       int64 // records that it says it has left out of these
}

// NewBatch is an empty batch with room for so many records.
func NewBatch(capacity int) *Batch {
	return &Batch{Records: make([]tree.Record, 0, capacity), Unexpected: account.NameCounts{}, Scopes: account.NameCounts{}}
}

// Clear empties the batch, and keeps its room.
func (b *Batch) Clear() {
	b.Records, b.Numbered, b.Names = b.Records[:0], b.Numbered[:0], b.Names[:0]
	clear(b.Unexpected)
	clear(b.Scopes)
	b.Bytes, b.Counted, b.Requests, b.Malformed, b.CutOff, b.Drops, b.Limited, b.Left = 0, 0, 0, 0, 0, 0, 0, 0
}

// BatchRecords is how many spans of a message are entered into the ledger at once. Until then they stay in the
// processor's nearest cache.
const BatchRecords = 256
