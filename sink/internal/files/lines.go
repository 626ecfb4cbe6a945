package files

import (
	"bytes"

	"tracetax/sink/internal/ledger"
)

// Lines takes text apart that comes in pieces.
type Lines struct {
	Limit   int  // bytes of the longest line that is understood
	tooLong bool // the rest of a longer one is skipped
}

// Consume hands over the whole lines of data, moves the rest to the front, and returns its length. A line that is
// too long, or that take does not understand, is malformed.
func (l *Lines) Consume(data []byte, b *ledger.Batch, take func(line []byte, b *ledger.Batch) bool) (rest int) {
	used := 0
	for {
		length := bytes.IndexByte(data[used:], '\n')
		if length < 0 {
			break
		}
		line := data[used : used+length]
		used += length + 1
		if l.tooLong {
			l.tooLong = false
		} else if length > l.Limit || !take(bytes.TrimSuffix(line, []byte("\r")), b) {
			b.Malformed++
		}
	}
	if !l.tooLong && len(data)-used > l.Limit {
		b.Malformed++
		l.tooLong = true
	}
	if l.tooLong {
		return 0
	}
	return copy(data, data[used:])
}
