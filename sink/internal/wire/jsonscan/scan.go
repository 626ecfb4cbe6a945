// Package jsonscan reads JSON without allocating.
package jsonscan

import (
	"errors"
	"math/bits"
)

// maxNesting is how deep the values of a JSON text may lie in one another.
const maxNesting = 64

// ErrNoJSON says that a text is no JSON, or not what it should be.
var ErrNoJSON = errors.New("no valid JSON")

// Scan reads a JSON text from front to back, value by value, and allocates nothing: strings are parts of the text,
// and those with escapes are decoded in their place, so the text belongs to the scan. It takes what encoding/json
// takes, except for values that are nested too deep. Where a value is not of the kind that is asked for, it is skipped
// and counts as empty. After a fault everything is empty and no iteration goes on, so only who has read a whole
// record needs to ask for it.
//
//	for more := s.Begin('{'); more; more = s.Next('}') {
//		switch string(s.Key()) {
//		case "name":
//			name = s.Text()
//		default:
//			s.Skip()
//		}
//	}
type Scan struct {
	Data   []byte
	at     int
	depth  int
	Failed bool
}

// fault ends the scan.
func (s *Scan) fault() {
	s.Failed, s.at = true, len(s.Data)
}

// Ended reports whether the text was valid and nothing follows the value that was read.
func (s *Scan) Ended() bool {
	s.Peek()
	return !s.Failed && s.at == len(s.Data)
}

// Peek goes to the next byte that is no space and returns it; 0 at the end.
func (s *Scan) Peek() byte {
	if s.at < len(s.Data) && s.Data[s.at] > ' ' {
		return s.Data[s.at]
	}
	return s.pass()
}

// pass is peek where there is a space, or the end.
func (s *Scan) pass() byte {
	for ; s.at < len(s.Data); s.at++ {
		switch c := s.Data[s.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// Begin enters an object ('{') or an array ('[') and reports whether there is something in it.
func (s *Scan) Begin(bracket byte) bool {
	if s.Peek() != bracket {
		s.Skip()
		return false
	}
	if s.depth == maxNesting {
		s.fault()
		return false
	}
	s.at++
	if s.Peek() == bracket+2 { // in ASCII the closing one
		s.at++
		return false
	}
	s.depth++
	return true
}

// Next reports whether something follows in the object or array that ends with the bracket; if not, it is left.
func (s *Scan) Next(bracket byte) bool {
	switch s.Peek() {
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

// Key returns the key of an object's member, whose value comes next.
func (s *Scan) Key() []byte {
	if s.Peek() != '"' {
		s.fault()
		return nil
	}
	key := s.quoted()
	if s.Peek() != ':' {
		s.fault()
		return nil
	}
	s.at++
	return key
}

// Text returns a string.
func (s *Scan) Text() []byte {
	if s.Peek() != '"' {
		s.Skip()
		return nil
	}
	return s.quoted()
}

// Natural returns a whole number that is not negative, in digits or a string of digits, and whether there was one that
// fits.
func (s *Scan) Natural() (value uint64, ok bool) {
	var digits []byte
	switch s.Peek() {
	case '"':
		digits = s.quoted()
	case '{', '[', 't', 'f', 'n':
		s.Skip()
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

// Skip passes over any value.
func (s *Scan) Skip() {
	switch s.Peek() {
	case '"':
		s.quoted()
	case '{':
		for more := s.Begin('{'); more; more = s.Next('}') {
			s.Key()
			s.Skip()
		}
	case '[':
		for more := s.Begin('['); more; more = s.Next(']') {
			s.Skip()
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

func (s *Scan) literal(word string) {
	if rest := s.Data[s.at:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		s.fault()
		return
	}
	s.at += len(word)
}

func (s *Scan) number() []byte {
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
	if s.Failed {
		return nil
	}
	return s.Data[start:s.at]
}

func (s *Scan) optional(c byte) bool {
	if s.at < len(s.Data) && s.Data[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *Scan) digits() {
	start := s.at
	for s.at < len(s.Data) && s.Data[s.at]-'0' <= 9 {
		s.at++
	}
	if s.at == start {
		s.fault()
	}
}
