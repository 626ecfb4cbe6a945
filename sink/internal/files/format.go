package files

import "tracetax/sink/internal/ledger"

// Format is how the files of a protocol are told from others, and understood.
type Format struct {
	Extension string
	MapName   string
	MapLine   int // bytes of the longest line of the map
	Least     int // bytes of the smallest record
	Decoder   func(recordName string) Decoder
}

// Decoder understands the files of one log.
type Decoder interface {
	// Entry takes a line of the log's map and reports whether it could be understood.
	Entry(line []byte, b *ledger.Batch) bool
	// Begin says that another file begins.
	Begin()
	// Consume enters the whole records of data into the batch, or as many as it holds, moves the rest to the front, and
	// returns its length. It is asked again while it takes some.
	Consume(data []byte, b *ledger.Batch) (rest int)
	// End says that the log has ended.
	End(b *ledger.Batch)
}
