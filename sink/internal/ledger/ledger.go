// Package ledger keeps the account of a protocol: what its receiver brings in batches is entered, and closed at the
// end of a phase.
package ledger

import (
	"errors"
	"sync"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/tree"
)

// Ledger is the account of one protocol in the current phase. It is safe for concurrent use.
type Ledger struct {
	signals []string

	mu         sync.Mutex
	count      account.Account
	unexpected account.NameCounts
	scopes     account.NameCounts
	trees      *tree.Table
	names      *nameTable // of a protocol whose records have numbers for names; else nil

	closeAt int64   // records at which the account closes itself; 0 for never
	early   *Closed // the account that has closed itself

	// closing completes an account that ends, if it is set.
	closing func(*account.Account)
}

// Closed is an account that closed itself, and when it did.
type Closed struct {
	Account account.Account
	CPUNs   int64
}

// New makes an empty ledger; signals are what the protocol carries besides records.
func New(trees *tree.Table, signals []string) *Ledger {
	return &Ledger{
		signals:    signals,
		count:      account.New(signals),
		unexpected: account.NameCounts{},
		scopes:     account.NameCounts{},
		trees:      trees,
	}
}

// NameBy says that records have numbers for their names, which come apart; expected says whether a name is that of the
// expected method. Some names may be known from the beginning.
func (l *Ledger) NameBy(expected func(name []byte) bool, known ...Name) {
	l.names = newNameTable(expected)
	for _, n := range known {
		l.names.learn(n, NewBatch(0))
	}
}

// CloseWith lets complete enter, at the end of each account, what only its receiver knows. It is called with the ledger
// locked.
func (l *Ledger) CloseWith(complete func(*account.Account)) {
	l.closing = complete
}

// Apply enters the batch into the account and clears it.
func (l *Ledger) Apply(b *Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.names != nil {
		l.names.resolve(b)
	}
	c := &l.count
	c.Bytes += b.Bytes
	c.Requests += b.Requests
	c.Malformed += b.Malformed
	c.CutOff += b.CutOff
	c.ReportedDrops += b.Drops
	c.LimitedTrees += b.Limited
	c.LimitedRecords += b.Left
	c.Records += b.Counted
	if len(b.Records) > 0 || len(b.Unexpected) > 0 || b.Counted > 0 {
		if c.FirstArrivalNs == 0 {
			c.FirstArrivalNs = b.ArrivalNs
		}
		c.LastArrivalNs = max(c.LastArrivalNs, b.ArrivalNs)
	}
	if len(b.Unexpected) > 0 {
		c.UnexpectedNames += l.unexpected.Merge(b.Unexpected)
	}
	if len(b.Scopes) > 0 {
		l.scopes.Merge(b.Scopes)
	}
	for i := 0; i < len(b.Records); i++ {
		if whole := l.trees.AddWhole(b.Records[i:], l.closeAt, c); whole > 0 {
			i += whole - 1
			continue
		}
		l.trees.Add(&b.Records[i], c)
		if c.Records >= l.closeAt && l.closeAt > 0 {
			l.split(b, len(b.Records)-i-1)
		}
	}
	b.Clear()
}

// split closes the account in the middle of a batch: the rest of its records, and their share of its bytes, begin the
// next one.
func (l *Ledger) split(b *Batch, rest int) {
	moved := b.Bytes * int64(rest) / int64(len(b.Records))
	l.count.Bytes -= moved
	l.closeEarly()
	l.count.Bytes = moved
	if rest > 0 {
		l.count.FirstArrivalNs, l.count.LastArrivalNs = b.ArrivalNs, b.ArrivalNs
	}
}

// closeEarly closes the account before anyone asks for it.
func (l *Ledger) closeEarly() {
	l.early = &Closed{Account: l.closeAccount(), CPUNs: clock.CPUNs()}
	l.closeAt = 0
}

// CloseAfter lets the account close itself at a number of records; at once if it has as many.
func (l *Ledger) CloseAfter(records int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closeAt = records; l.count.Records >= records {
		l.closeEarly()
	}
}

// KeepOpen lets the account not close itself any more.
func (l *Ledger) KeepOpen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeAt = 0
}

// TakeEarly returns the account that has closed itself, once.
func (l *Ledger) TakeEarly() *Closed {
	l.mu.Lock()
	defer l.mu.Unlock()
	early := l.early
	l.early = nil
	return early
}

// Other enters bytes of a signal that is answered and not counted as records.
func (l *Ledger) Other(signal string, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.OtherBytes[signal] += bytes
}

// Refuse enters a request that was turned away for want of memory.
func (l *Ledger) Refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.Refused++
}

// Fault enters into the batch, or here, why a message was not read to its end.
func (l *Ledger) Fault(b *Batch, reason error) {
	switch {
	case errors.Is(reason, message.ErrBusy):
		l.Refuse()
	case errors.Is(reason, message.ErrCutOff):
		b.CutOff++
	default:
		b.Malformed++
	}
}

// Reject enters a request that was turned away for what it said of itself.
func (l *Ledger) Reject() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.Malformed++
}

// GRPCAtHTTP enters a connection that spoke gRPC to a port for HTTP/1.
func (l *Ledger) GRPCAtHTTP() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.GRPCAtHTTP++
}

// HTTPAtGRPC enters a connection that spoke HTTP/1 to a port for gRPC.
func (l *Ledger) HTTPAtGRPC() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.HTTPAtGRPC++
}

// Unanswered enters a request of the sink's own that brought no answer.
func (l *Ledger) Unanswered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.Unanswered++
}

// totals is what the runner polls.
type totals struct {
	Records, Bytes, Malformed, LastArrivalNs int64
}

// Totals are those of the current account.
func (l *Ledger) Totals() totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return totals{l.count.Records, l.count.Bytes, l.count.Malformed, l.count.LastArrivalNs}
}

// Close ends the phase: it closes the open trees, returns the account and begins an empty one.
func (l *Ledger) Close() account.Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closeAccount()
}

func (l *Ledger) closeAccount() account.Account {
	if l.names != nil {
		if given := l.names.giveUp(); given > 0 {
			l.count.UnexpectedNames += given
			l.unexpected.AddTo(nameless, given)
		}
	}
	l.trees.Close(&l.count)
	if l.closing != nil {
		l.closing(&l.count)
	}
	closed := l.count
	closed.Unexpected, closed.Scopes = l.unexpected.Plain(), l.scopes.Plain()
	l.count = account.New(l.signals)
	clear(l.unexpected)
	clear(l.scopes)
	return closed
}
