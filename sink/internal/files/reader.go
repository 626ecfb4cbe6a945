// Package files reads the records that an agent has written to files.
package files

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"tracetax/sink/internal/ledger"
)

// readBytes is how much of a file is read at once.
const readBytes = 256 << 10

// Edge is where among the records of a folder another phase begins: after the first of them, or before the last.
type Edge struct {
	Records int64
	Last    bool
}

// Reader reads a folder of one protocol into its ledger, beside the control of the sink.
type Reader struct {
	recordName string
	Format     *Format
	ledger     *ledger.Ledger

	running  sync.WaitGroup
	reading  atomic.Bool
	stopping atomic.Bool
	bytes    atomic.Int64 // read so far, those of a first pass included
	failure  atomic.Pointer[error]
}

var errStopped = errors.New("the sink was stopped while it read")

// NewReader makes one for the files of a format.
func NewReader(recordName string, format *Format, l *ledger.Ledger) *Reader {
	return &Reader{recordName: recordName, Format: format, ledger: l}
}

// Begin reads the folder into the ledger, whose account closes itself at the edge.
func (r *Reader) Begin(folder Folder, edge Edge) {
	r.reading.Store(true)
	r.bytes.Store(0)
	r.failure.Store(nil)
	r.running.Go(func() {
		defer r.reading.Store(false)
		if err := r.Read(folder, edge); err != nil {
			r.failure.Store(&err)
		}
	})
}

// Read reads the folder into the ledger, to its end.
func (r *Reader) Read(folder Folder, edge Edge) error {
	first := edge.Records
	if edge.Last {
		var kept int64
		err := r.pass(folder, func(b *ledger.Batch) {
			kept += int64(len(b.Records))
			b.Clear()
		})
		if err != nil {
			return err
		}
		first = max(0, kept-edge.Records)
	}
	r.ledger.CloseAfter(r.ledger.Totals().Records + first)
	return r.pass(folder, r.ledger.Apply)
}

// Progress is whether a folder is being read, how many bytes of it were, and why it was not read to its end.
func (r *Reader) Progress() (reading bool, bytes int64, failure error) {
	// Looked at before the failure, which is there before the reading ends.
	reading = r.Busy()
	if err := r.failure.Load(); err != nil {
		failure = *err
	}
	return reading, r.bytes.Load(), failure
}

// Busy reports whether a folder is being read.
func (r *Reader) Busy() bool {
	return r.reading.Load()
}

// Stop ends the reading, where it has not ended by itself.
func (r *Reader) Stop() {
	r.stopping.Store(true)
	r.running.Wait()
}

// pass hands over all that the folder holds, in order.
func (r *Reader) pass(folder Folder, enter func(*ledger.Batch)) error {
	b := ledger.NewBatch(readBytes / r.Format.Least)
	b.Bytes = folder.otherBytes
	buffer := make([]byte, readBytes)
	for i, log := range folder.logs {
		decoder := r.Format.Decoder(r.recordName)
		if log.mapFile != "" {
			entries := Lines{Limit: r.Format.MapLine}
			rest, err := r.file(log.mapFile, buffer, b, enter, func(data []byte, b *ledger.Batch) int {
				return entries.Consume(data, b, decoder.Entry)
			})
			if err != nil {
				return err
			}
			b.CutOff += int64(min(1, rest))
		}
		for j, path := range log.data {
			decoder.Begin()
			b.Requests++
			rest, err := r.file(path, buffer, b, enter, decoder.Consume)
			if err != nil {
				return err
			}
			// Only the file that was written last may lack its end.
			if last := i == len(folder.logs)-1 && j == len(log.data)-1; rest > 0 && last {
				b.CutOff++
			} else if rest > 0 {
				b.Malformed++
			}
		}
		decoder.End(b)
	}
	enter(b)
	return nil
}

// file hands over one file piece by piece and returns how many bytes at its end are no whole record.
func (r *Reader) file(
	path string, buffer []byte, b *ledger.Batch, enter func(*ledger.Batch), consume func([]byte, *ledger.Batch) int,
) (rest int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for !r.stopping.Load() {
		n, err := f.Read(buffer[rest:])
		r.bytes.Add(int64(n))
		b.Bytes += int64(n)
		before := rest + n
		rest = consume(buffer[:before], b)
		enter(b)
		if errors.Is(err, io.EOF) && (rest == 0 || rest == before) { // else it has more to take than a batch holds
			return rest, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return rest, err
		}
	}
	return rest, errStopped
}
