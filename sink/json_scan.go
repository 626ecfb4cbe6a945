package main

import (
	"errors"
	"math/bits"
)

// maxNesting is how deep the values of a JSON text may lie in one another.
const maxNesting = 64

var errNoJSON = errors.New("no valid JSON")

// jsonScan reads a JSON text from front to back, value by value, and allocates nothing: strings are parts of the text,
// and those with escapes are decoded in their place, so the text belongs to the scan. It takes what encoding/json
// takes, except for values that are nested too deep. Where a value is not of the kind that is asked for, it is skipped
// and counts as empty. After a fault everything is empty and no iteration goes on, so only who has read a whole
// record needs to ask for it.
//
//	for more := s.begin('{'); more; more = s.next('}') {
//		switch string(s.key()) {
//		case "name":
//			name = s.text()
//		default:
//			s.skip()
//		}
//	}
type jsonScan struct {
	data   []byte
	at     int
	depth  int
	failed bool
}

// fault ends the scan.
func (s *jsonScan) fault() {
	s.failed, s.at = true, len(s.data)
}

// ended reports whether the text was valid and nothing follows the value that was read.
func (s *jsonScan) ended() bool {
	s.peek()
	return !s.failed && s.at == len(s.data)
}

// peek goes to the next byte that is no space and returns it; 0 at the end.
func (s *jsonScan) peek() byte {
	if s.at < len(s.data) && s.data[s.at] > ' ' {
		return s.data[s.at]
	}
	return s.pass()
}

// pass is peek where there is a space, or the end.
func (s *jsonScan) pass() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// begin enters an object ('{') or an array ('[') and reports whether there is something in it.
func (s *jsonScan) begin(bracket byte) bool {
	if s.peek() != bracket {
		s.skip()
		return false
	}
	if s.depth == maxNesting {
		s.fault()
		return false
	}
	s.at++
	if s.peek() == bracket+2 { // in ASCII the closing one
		s.at++
		return false
	}
	s.depth++
	return true
}

// next reports whether something follows in the object or array that ends with the bracket; if not, it is left.
func (s *jsonScan) next(bracket byte) bool {
	switch s.peek() {
	case ',':
		s.at++
		return true
	case bracket:
		s.at++
		s.depth--
	default:
		s.fault()
	}
	return false
}

// key returns the key of an object's member, whose value comes next.
func (s *jsonScan) key() []byte {
	if s.peek() != '"' {
		s.fault()
		return nil
	}
	key := s.quoted()
	if s.peek() != ':' {
		s.fault()
		return nil
	}
	s.at++
	return key
}

// text returns a string.
func (s *jsonScan) text() []byte {
	if s.peek() != '"' {
		s.skip()
		return nil
	}
	return s.quoted()
}

// natural returns a whole number that is not negative, in digits or a string of digits, and whether there was one that
// fits.
func (s *jsonScan) natural() (value uint64, ok bool) {
	var digits []byte
	switch s.peek() {
	case '"':
		digits = s.quoted()
	case '{', '[', 't', 'f', 'n':
		s.skip()
	default:
		digits = s.number()
	}
	for _, c := range digits {
		high, low := bits.Mul64(value, 10)
		sum, carry := bits.Add64(low, uint64(c-'0'), 0)
		if c < '0' || c > '9' || high != 0 || carry != 0 {
			return 0, false
		}
		value = sum
	}
	return value, len(digits) > 0
}

// skip passes over any value.
func (s *jsonScan) skip() {
	switch s.peek() {
	case '"':
		s.quoted()
	case '{':
		for more := s.begin('{'); more; more = s.next('}') {
			s.key()
			s.skip()
		}
	case '[':
		for more := s.begin('['); more; more = s.next(']') {
			s.skip()
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

func (s *jsonScan) literal(word string) {
	if rest := s.data[s.at:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		s.fault()
		return
	}
	s.at += len(word)
}

func (s *jsonScan) number() []byte {
	start := s.at
	s.optional('-')
	if !s.optional('0') {
		s.digits()
	}
	if s.optional('.') {
		s.digits()
	}
	if s.optional('e') || s.optional('E') {
		if !s.optional('+') {
			s.optional('-')
		}
		s.digits()
	}
	if s.failed {
		return nil
	}
	return s.data[start:s.at]
}

func (s *jsonScan) optional(c byte) bool {
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *jsonScan) digits() {
	start := s.at
	for s.at < len(s.data) && s.data[s.at]-'0' <= 9 {
		s.at++
	}
	if s.at == start {
		s.fault()
	}
}
