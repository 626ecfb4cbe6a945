// Package lzo understands blocks of LZO1X, as the kernel's documentation describes its stream
// (Documentation/staging/lzo.rst).
package lzo

import "errors"

// ErrBlock says that a block is garbled, or longer than there is room for.
var ErrBlock = errors.New("no block of LZO1X, or a longer one than told")

// What is known of a match by its first byte.
const (
	matchNear   = 0x40 // 3 to 8 bytes, at most 2 KiB back
	matchMiddle = 0x20 // at most 16 KiB back
	matchFar    = 0x10 // up to 48 KiB back, or the end of the block

	farBack     = 16 << 10
	nearAfter   = 2 << 10 // a match of three bytes behind a long run of literals is further back than this
	longRun     = 4       // so many literals or more went before
	firstPlain  = 18      // a block that begins with this or more begins with literals
	longestByte = 255
)

// Decode appends the bytes of a block to into, which must have room for them: it never grows.
func Decode(into, block []byte) ([]byte, error) {
	d := decoder{from: block, to: into, begin: len(into)}
	d.block()
	if d.failed || d.at != len(block) {
		return into, ErrBlock
	}
	return d.to, nil
}

type decoder struct {
	from   []byte
	at     int
	to     []byte
	begin  int // bytes before are not the block's
	failed bool
}

func (d *decoder) block() {
	before := 0 // literals that went before an instruction; longRun for more than three
	if len(d.from) > 0 && d.from[0] >= firstPlain {
		count := int(d.byte()) - (firstPlain - 1)
		d.literals(count)
		before = min(count, longRun)
	}
	for !d.failed {
		first := int(d.byte())
		var length, back, after int
		switch {
		case first >= matchNear:
			back = int(d.byte())<<3 + first>>2&7 + 1
			length, after = first>>5+1, first&3
		case first >= matchMiddle:
			length = d.length(first, 31) + 2
			pair := d.pair()
			back, after = pair>>2+1, pair&3
		case first >= matchFar:
			length = d.length(first, 7) + 2
			pair := d.pair()
			back, after = farBack+first&8<<11+pair>>2, pair&3
			if back == farBack {
				d.failed = d.failed || length != 3 || after != 0
				return
			}
		case before == 0:
			d.literals(d.length(first, 15) + 3)
			before = longRun
			continue
		default:
			back, length, after = int(d.byte())<<2+first>>2+1, 2, first&3
			if before == longRun {
				back, length = back+nearAfter, 3
			}
		}
		d.match(back, length)
		d.literals(after)
		before = after
	}
}

func (d *decoder) byte() byte {
	if d.at >= len(d.from) {
		d.failed = true
		return 0
	}
	d.at++
	return d.from[d.at-1]
}

func (d *decoder) pair() int {
	low := int(d.byte())
	return low + int(d.byte())<<8
}

// length is what the low bits of an instruction say; where they are all zero, bytes follow, of which each zero is 255.
func (d *decoder) length(first, mask int) int {
	if first &= mask; first != 0 {
		return first
	}
	length := mask
	for {
		more := int(d.byte())
		if more != 0 || d.failed {
			return length + more
		}
		if length += longestByte; length > cap(d.to) {
			d.failed = true
			return 0
		}
	}
}

func (d *decoder) literals(count int) {
	if d.failed || count > len(d.from)-d.at || count > cap(d.to)-len(d.to) {
		d.failed = true
		return
	}
	d.to = append(d.to, d.from[d.at:d.at+count]...)
	d.at += count
}

// match copies what lies so far back; it may reach into what it makes.
func (d *decoder) match(back, length int) {
	if d.failed || back > len(d.to)-d.begin || length > cap(d.to)-len(d.to) {
		d.failed = true
		return
	}
	from := len(d.to) - back
	for length > 0 {
		size := min(length, len(d.to)-from)
		d.to = append(d.to, d.to[from:from+size]...)
		length -= size
	}
}
