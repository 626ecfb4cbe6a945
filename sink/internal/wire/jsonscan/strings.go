package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string from its opening quote.
func (s *Scan) quoted() []byte {
	start := s.at + 1
	end := s.plainUntil(start)
	if end < len(s.Data) && s.Data[end] == '"' {
		s.at = end + 1
		return s.Data[start:end]
	}
	return s.escaped(start, end)
}

// plainUntil returns the index of the first quote, backslash or control character, eight bytes at a time.
func (s *Scan) plainUntil(at int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	data := s.Data
	for ; at+8 <= len(data); at += 8 {
		word := binary.LittleEndian.Uint64(data[at:])
		quote, slash := word^ones*'"', word^ones*'\\'
		// The top bit of the lowest byte that is 0, or below 0x20, is set exactly; above it may be more.
		found := ((quote-ones)&^quote | (slash-ones)&^slash | (word-ones*0x20)&^word) & tops
		if found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for ; at < len(data); at++ {
		if c := data[at]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return at
}

// escaped reads a string that is plain from start to read, and writes what it means in its place.
func (s *Scan) escaped(start, read int) []byte {
	write := read
	for read < len(s.Data) {
		switch c := s.Data[read]; {
		case c == '"':
			s.at = read + 1
			return s.Data[start:write]
		case c == '\\':
			meant, size := escape(s.Data[read:])
			if size == 0 {
				s.fault()
				return nil
			}
			read += size
			// It is never longer than its escape.
			write += utf8.EncodeRune(s.Data[write:], meant)
		case c < 0x20:
			s.fault()
			return nil
		default:
			end := s.plainUntil(read)
			write += copy(s.Data[write:], s.Data[read:end])
			read = end
		}
	}
	s.fault()
	return nil
}

// escape returns what the escape at the beginning of data means, and its size; 0 if there is none.
func escape(data []byte) (meant rune, size int) {
	if len(data) < 2 {
		return 0, 0
	}
	switch c := data[1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	first, ok := unicodeEscape(data)
	if !ok {
		return 0, 0
	}
	if second, ok := unicodeEscape(data[6:]); ok && utf16.IsSurrogate(first) {
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return first, 6 // a lone surrogate is written as U+FFFD
}

func unicodeEscape(data []byte) (unit rune, ok bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	value, ok := Hex(data[2:6])
	return rune(value), ok
}
