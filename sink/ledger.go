package main

import (
	"errors"
	"sync"
)

// record is one execution of the expected method.
type record struct {
	tree      treeKey
	node      node
	backwards bool   // it ends before it starts
	more      uint32 // further executions that it stands for
}

// batch is what a connection or a message has brought since it last told the ledger: the ledger is locked once per
// batch, not once per record.
type batch struct {
	arrivalNs  int64
	records    []record
	numbered   []numbered   // records whose names come apart
	names      []numberName // these names
	unexpected nameCounts
	bytes      int64
	counted    int64 // executions that are known by their number alone
	requests   int64
	malformed  int64
	cutOff     int64
	drops      int64 // records that the agent says it has not made or sent
	limited    int64 // trees that the agent says it has limited in size
	left       int64 // records that it says it has left out of these
}

func newBatch(capacity int) *batch {
	return &batch{records: make([]record, 0, capacity), unexpected: nameCounts{}}
}

func (b *batch) clear() {
	b.records, b.numbered, b.names = b.records[:0], b.numbered[:0], b.names[:0]
	clear(b.unexpected)
	b.bytes, b.counted, b.requests, b.malformed, b.cutOff, b.drops, b.limited, b.left = 0, 0, 0, 0, 0, 0, 0, 0
}

// ledger is the account of one protocol in the current phase. It is safe for concurrent use.
type ledger struct {
	signals []string

	mu         sync.Mutex
	count      protocolCount
	unexpected nameCounts
	trees      *treeTable
	names      *nameTable // of a protocol whose records have numbers for names; else nil

	closeAt int64   // records at which the account closes itself; 0 for never
	early   *closed // the account that has closed itself

	// closing completes an account that ends by what only its receiver knows, if it is set. It is called with the
	// ledger locked.
	closing func(*protocolCount)
}

// closed is an account that closed itself, and when it did.
type closed struct {
	count protocolCount
	cpuNs int64
}

// newLedger makes an empty ledger; signals are what the protocol carries besides records.
func newLedger(trees *treeTable, signals []string) *ledger {
	return &ledger{
		signals:    signals,
		count:      newProtocolCount(signals),
		unexpected: nameCounts{},
		trees:      trees,
	}
}

// apply enters the batch into the account and clears it.
func (l *ledger) apply(b *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names != nil {
		l.names.resolve(b)
	}
	c := &l.count
	c.Bytes += b.bytes
	c.Requests += b.requests
	c.Malformed += b.malformed
	c.CutOff += b.cutOff
	c.ReportedDrops += b.drops
	c.LimitedTrees += b.limited
	c.LimitedRecords += b.left
	c.Records += b.counted
	if len(b.records) > 0 || len(b.unexpected) > 0 || b.counted > 0 {
		if c.FirstArrivalNs == 0 {
			c.FirstArrivalNs = b.arrivalNs
		}
		c.LastArrivalNs = max(c.LastArrivalNs, b.arrivalNs)
	}
	if len(b.unexpected) > 0 {
		c.UnexpectedNames += l.unexpected.merge(b.unexpected)
	}
	for i := range b.records {
		l.trees.add(&b.records[i], c)
		if c.Records >= l.closeAt && l.closeAt > 0 {
			l.split(b, len(b.records)-i-1)
		}
	}
	b.clear()
}

// split closes the account in the middle of a batch: the rest of its records, and their share of its bytes, begin the
// next one.
func (l *ledger) split(b *batch, rest int) {
	moved := b.bytes * int64(rest) / int64(len(b.records))
	l.count.Bytes -= moved
	l.closeEarly()
	l.count.Bytes = moved
	if rest > 0 {
		l.count.FirstArrivalNs, l.count.LastArrivalNs = b.arrivalNs, b.arrivalNs
	}
}

// closeEarly closes the account before anyone asks for it.
func (l *ledger) closeEarly() {
	l.early = &closed{count: l.closeAccount(), cpuNs: cpuNs()}
	l.closeAt = 0
}

// closeAfter lets the account close itself at a number of records; at once if it has as many.
func (l *ledger) closeAfter(records int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closeAt = records; l.count.Records >= records {
		l.closeEarly()
	}
}

// keepOpen lets the account not close itself any more.
func (l *ledger) keepOpen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeAt = 0
}

// takeEarly returns the account that has closed itself, once.
func (l *ledger) takeEarly() *closed {
	l.mu.Lock()
	defer l.mu.Unlock()
	early := l.early
	l.early = nil
	return early
}

// other enters bytes of a signal that is answered and not counted as records.
func (l *ledger) other(signal string, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.OtherBytes[signal] += bytes
}

// refuse enters a request that was turned away for want of memory.
func (l *ledger) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.Refused++
}

// fault enters into the batch, or here, why a message was not read to its end.
func (l *ledger) fault(b *batch, reason error) {
	switch {
	case errors.Is(reason, errBusy):
		l.refuse()
	case errors.Is(reason, errCutOff):
		b.cutOff++
	default:
		b.malformed++
	}
}

// reject enters a request that was turned away for what it said of itself.
func (l *ledger) reject() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.Malformed++
}

// grpcAtHTTP enters a connection that spoke gRPC to a port for HTTP/1.
func (l *ledger) grpcAtHTTP() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.GRPCAtHTTP++
}

// httpAtGRPC enters a connection that spoke HTTP/1 to a port for gRPC.
func (l *ledger) httpAtGRPC() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.HTTPAtGRPC++
}

// unanswered enters a request of the sink's own that brought no answer.
func (l *ledger) unanswered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.Unanswered++
}

// totals is what the runner polls.
type totals struct {
	records, bytes, malformed, lastArrivalNs int64
}

func (l *ledger) totals() totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return totals{l.count.Records, l.count.Bytes, l.count.Malformed, l.count.LastArrivalNs}
}

// close ends the phase: it closes the open trees, returns the account and begins an empty one.
func (l *ledger) close() protocolCount {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closeAccount()
}

func (l *ledger) closeAccount() protocolCount {
	if l.names != nil {
		if given := l.names.giveUp(); given > 0 {
			l.count.UnexpectedNames += given
			l.unexpected.addTo(nameless, given)
		}
	}
	l.trees.close(&l.count)
	if l.closing != nil {
		l.closing(&l.count)
	}
	closed := l.count
	closed.Unexpected = l.unexpected.plain()
	l.count = newProtocolCount(l.signals)
	clear(l.unexpected)
	return closed
}
