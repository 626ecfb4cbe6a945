package main

import "bytes"

// lines takes text apart that comes in pieces.
type lines struct {
	limit   int  // bytes of the longest line that is understood
	tooLong bool // the rest of a longer one is skipped
}

// consume hands over the whole lines of data, moves the rest to the front, and returns its length. A line that is
// too long, or that take does not understand, is malformed.
func (l *lines) consume(data []byte, b *batch, take func(line []byte, b *batch) bool) (rest int) {
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
		} else if length > l.limit || !take(bytes.TrimSuffix(line, []byte("\r")), b) {
			b.malformed++
		}
	}
	if !l.tooLong && len(data)-used > l.limit {
		b.malformed++
		l.tooLong = true
	}
	if l.tooLong {
		return 0
	}
	return copy(data, data[used:])
}
