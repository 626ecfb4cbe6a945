package main

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// fileFormat is how the files of a protocol are told from others, and understood.
type fileFormat struct {
	extension string
	mapName   string
	decoder   func(recordName string) fileDecoder
}

// fileDecoder understands the files of one log.
type fileDecoder interface {
	// entry takes a line of the log's map and reports whether it could be understood.
	entry(line []byte, b *batch) bool
	// begin says that another file begins.
	begin()
	// consume enters the whole records of data into the batch, moves the rest to the front, and returns its length.
	consume(data []byte, b *batch) (rest int)
}

// edge is where among the records of a folder another phase begins: after the first of them, or before the last.
type edge struct {
	records int64
	last    bool
}

// folderReader reads a folder of one protocol into its ledger, beside the control of the sink.
type folderReader struct {
	recordName string
	format     *fileFormat
	ledger     *ledger

	running  sync.WaitGroup
	reading  atomic.Bool
	stopping atomic.Bool
	bytes    atomic.Int64 // read so far, those of a first pass included
	failure  atomic.Pointer[error]
}

var errStopped = errors.New("the sink was stopped while it read")

// begin reads the folder into the ledger, whose account closes itself at the edge.
func (r *folderReader) begin(folder recordFolder, edge edge) {
	r.reading.Store(true)
	r.bytes.Store(0)
	r.failure.Store(nil)
	r.running.Go(func() {
		defer r.reading.Store(false)
		if err := r.read(folder, edge); err != nil {
			r.failure.Store(&err)
		}
	})
}

func (r *folderReader) read(folder recordFolder, edge edge) error {
	first := edge.records
	if edge.last {
		var kept int64
		err := r.pass(folder, func(b *batch) {
			kept += int64(len(b.records))
			b.clear()
		})
		if err != nil {
			return err
		}
		first = max(0, kept-edge.records)
	}
	r.ledger.closeAfter(r.ledger.totals().records + first)
	return r.pass(folder, r.ledger.apply)
}

// tell enters into the counts how far it is.
func (r *folderReader) tell(c *counts) {
	// Read before the failure, which is there before the reading ends.
	c.Reading = c.Reading || r.reading.Load()
	c.ReadBytes += r.bytes.Load()
	if err := r.failure.Load(); err != nil {
		c.ReadError = (*err).Error()
	}
}

// stop ends the reading, where it has not ended by itself.
func (r *folderReader) stop() {
	r.stopping.Store(true)
	r.running.Wait()
}

// pass hands over all that the folder holds, in order.
func (r *folderReader) pass(folder recordFolder, enter func(*batch)) error {
	b := newBatch(kiekerReadBytes / executionBytes)
	b.bytes = folder.otherBytes
	buffer := make([]byte, kiekerReadBytes)
	for i, log := range folder.logs {
		decoder := r.format.decoder(r.recordName)
		if log.mapFile != "" {
			entries := lines{limit: maxStringBytes + mapNumberBytes}
			rest, err := r.file(log.mapFile, buffer, b, enter, func(data []byte, b *batch) int {
				return entries.consume(data, b, decoder.entry)
			})
			if err != nil {
				return err
			}
			b.cutOff += int64(min(1, rest))
		}
		for j, path := range log.data {
			decoder.begin()
			b.requests++
			rest, err := r.file(path, buffer, b, enter, decoder.consume)
			if err != nil {
				return err
			}
			// Only the file that was written last may lack its end.
			if last := i == len(folder.logs)-1 && j == len(log.data)-1; rest > 0 && last {
				b.cutOff++
			} else if rest > 0 {
				b.malformed++
			}
		}
	}
	enter(b)
	return nil
}

// file hands over one file piece by piece and returns how many bytes at its end are no whole record.
func (r *folderReader) file(
	path string, buffer []byte, b *batch, enter func(*batch), consume func([]byte, *batch) int,
) (rest int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for !r.stopping.Load() {
		n, err := f.Read(buffer[rest:])
		r.bytes.Add(int64(n))
		b.bytes += int64(n)
		rest = consume(buffer[:rest+n], b)
		enter(b)
		if errors.Is(err, io.EOF) {
			return rest, nil
		}
		if err != nil {
			return rest, err
		}
	}
	return rest, errStopped
}
