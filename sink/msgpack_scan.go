package main

import (
	"encoding/binary"
	"errors"
)

var errNoMsgpack = errors.New("no valid MessagePack")

// First bytes of MessagePack's values. Those from mpMap to below mpNil hold a length in their lowest bits, those below
// mpMap and from mpNegative on are numbers themselves.
const (
	mpMap      = 0x80
	mpArray    = 0x90
	mpText     = 0xa0
	mpNil      = 0xc0
	mpBytes8   = 0xc4
	mpBytes16  = 0xc5
	mpBytes32  = 0xc6
	mpUint8    = 0xcc
	mpUint16   = 0xcd
	mpUint32   = 0xce
	mpUint64   = 0xcf
	mpInt8     = 0xd0
	mpInt16    = 0xd1
	mpInt32    = 0xd2
	mpInt64    = 0xd3
	mpText8    = 0xd9
	mpText16   = 0xda
	mpText32   = 0xdb
	mpArray16  = 0xdc
	mpArray32  = 0xdd
	mpMap16    = 0xde
	mpMap32    = 0xdf
	mpNegative = 0xe0
)

// mpSize is what follows a first byte from mpNil up to mpMap32: how many bytes hold a length, and how many the
// value has beside it.
var mpSize = [...]struct{ length, value uint8 }{
	mpNil: {}, 0xc1: {}, 0xc2: {}, 0xc3: {},
	mpBytes8: {length: 1}, mpBytes16: {length: 2}, mpBytes32: {length: 4},
	0xc7: {length: 1, value: 1}, 0xc8: {length: 2, value: 1}, 0xc9: {length: 4, value: 1}, // extensions
	0xca: {value: 4}, 0xcb: {value: 8}, // floating point
	mpUint8: {value: 1}, mpUint16: {value: 2}, mpUint32: {value: 4}, mpUint64: {value: 8},
	mpInt8: {value: 1}, mpInt16: {value: 2}, mpInt32: {value: 4}, mpInt64: {value: 8},
	0xd4: {value: 2}, 0xd5: {value: 3}, 0xd6: {value: 5}, 0xd7: {value: 9}, 0xd8: {value: 17}, // short extensions
	mpText8: {length: 1}, mpText16: {length: 2}, mpText32: {length: 4},
	mpArray16: {length: 2}, mpArray32: {length: 4}, mpMap16: {length: 2}, mpMap32: {length: 4},
}

// mpNeverUsed is the only first byte that MessagePack gives no meaning.
const mpNeverUsed = 0xc1

// msgpackScan reads a text in MessagePack from front to back, value by value, and allocates nothing: strings are parts
// of the text. Where something other than an array or a map follows and one is asked for, that is a fault; other values
// that are not of the kind that is asked for are skipped and count as empty. After a fault everything is empty.
type msgpackScan struct {
	data   []byte
	at     int
	failed bool
}

// fault ends the scan.
func (s *msgpackScan) fault() {
	s.failed, s.at = true, len(s.data)
}

// ended reports whether the text was valid and nothing follows the value that was read.
func (s *msgpackScan) ended() bool {
	return !s.failed && s.at == len(s.data)
}

// peek returns the first byte of the next value; where there is none, that is a fault.
func (s *msgpackScan) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	s.fault()
	return mpNeverUsed
}

// array enters an array and returns how many values are in it.
func (s *msgpackScan) array() int {
	switch first := s.peek(); {
	case first&0xf0 == mpArray:
		s.at++
		return s.held(int(first & 0x0f))
	case first == mpArray16 || first == mpArray32:
		return s.held(s.length(first))
	default:
		s.fault()
		return 0
	}
}

// pairs enters a map and returns how many keys with a value are in it.
func (s *msgpackScan) pairs() int {
	switch first := s.peek(); {
	case first&0xf0 == mpMap:
		s.at++
		return s.held(int(first & 0x0f))
	case first == mpMap16 || first == mpMap32:
		return s.held(s.length(first))
	default:
		s.fault()
		return 0
	}
}

// held is how many values follow, if as many can: each has at least one byte.
func (s *msgpackScan) held(values int) int {
	if values > len(s.data)-s.at {
		s.fault()
		return 0
	}
	return values
}

// text reads a string, or bytes.
func (s *msgpackScan) text() []byte {
	size := 0
	switch first := s.peek(); {
	case first&0xe0 == mpText:
		s.at++
		size = int(first & 0x1f)
	case first == mpText8, first == mpText16, first == mpText32, first == mpBytes8, first == mpBytes16, first == mpBytes32:
		size = s.length(first)
	default:
		s.skip()
		return nil
	}
	if size > len(s.data)-s.at {
		s.fault()
		return nil
	}
	s.at += size
	return s.data[s.at-size : s.at : s.at]
}

// number reads a whole number, a negative one as its two's complement, and reports whether there was one.
func (s *msgpackScan) number() (value uint64, ok bool) {
	first := s.peek()
	switch {
	case first < mpMap:
		s.at++
		return uint64(first), true
	case first >= mpNegative:
		s.at++
		return uint64(int64(int8(first))), true
	case first < mpUint8 || first > mpInt64:
		s.skip()
		return 0, false
	}
	size := int(mpSize[first].value)
	if s.at+1+size > len(s.data) {
		s.fault()
		return 0, false
	}
	digits := s.data[s.at+1 : s.at+1+size]
	s.at += 1 + size
	switch first {
	case mpUint8:
		return uint64(digits[0]), true
	case mpUint16:
		return uint64(binary.BigEndian.Uint16(digits)), true
	case mpUint32:
		return uint64(binary.BigEndian.Uint32(digits)), true
	case mpInt8:
		return uint64(int64(int8(digits[0]))), true
	case mpInt16:
		return uint64(int64(int16(binary.BigEndian.Uint16(digits)))), true
	case mpInt32:
		return uint64(int64(int32(binary.BigEndian.Uint32(digits)))), true
	default:
		return binary.BigEndian.Uint64(digits), true
	}
}

// skip passes over a value with all that is in it, however deep.
func (s *msgpackScan) skip() {
	for values := 1; values > 0 && !s.failed; values-- {
		switch first := s.peek(); {
		case first < mpMap || first >= mpNegative:
			s.at++
		case first < mpArray:
			s.at++
			values += 2 * int(first&0x0f)
		case first < mpText:
			s.at++
			values += int(first & 0x0f)
		case first < mpNil:
			s.pass(1 + int(first&0x1f))
		case first == mpNeverUsed:
			s.fault()
		case first == mpArray16 || first == mpArray32:
			values += s.held(s.length(first))
		case first == mpMap16 || first == mpMap32:
			values += 2 * s.held(s.length(first))
		default:
			beside := int(mpSize[first].value)
			if mpSize[first].length > 0 {
				s.pass(s.length(first) + beside)
			} else {
				s.pass(1 + beside)
			}
		}
	}
}

// pass goes on by so many bytes.
func (s *msgpackScan) pass(size int) {
	if size > len(s.data)-s.at {
		s.fault()
		return
	}
	s.at += size
}

// length goes behind the first byte of a value that has a length, and returns that.
func (s *msgpackScan) length(first byte) int {
	digits := s.data[s.at+1:]
	size := int(mpSize[first].length)
	if size > len(digits) {
		s.fault()
		return 0
	}
	s.at += 1 + size
	switch size {
	case 1:
		return int(digits[0])
	case 2:
		return int(binary.BigEndian.Uint16(digits))
	default:
		return int(binary.BigEndian.Uint32(digits))
	}
}
