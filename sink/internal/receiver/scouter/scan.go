package scouter

import "encoding/binary"

// maxValueDepth is how deep values may lie in one another.
const maxValueDepth = 16

// scan reads Scouter's encodings, all big endian. Where the data ends too early, or a length is none, it has
// failed and gives zeros from then on.
type scan struct {
	data   []byte
	failed bool
	opaque bool // where what was read last ends is not known: nothing that follows can be found
}

// bytes returns the next n.
func (s *scan) bytes(n int) []byte {
	if s.failed || n > len(s.data) {
		s.failed, s.data = true, nil
		return nil
	}
	taken := s.data[:n]
	s.data = s.data[n:]
	return taken
}

// number is a signed one of 1 to 8 bytes.
func (s *scan) number(size int) int64 {
	var value int64
	for i, b := range s.bytes(size) {
		if i == 0 {
			value = int64(int8(b))
		} else {
			value = value<<8 | int64(b)
		}
	}
	return value
}

func (s *scan) byte() byte {
	return byte(s.number(1))
}

func (s *scan) long() uint64 {
	if b := s.bytes(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// decimal is a number behind its length, which is 0 to 5 or 8 bytes.
func (s *scan) decimal() int64 {
	switch size := s.byte(); size {
	case 0:
		return 0
	case 1, 2, 3, 4, 5, 8:
		return s.number(int(size))
	default:
		s.failed, s.data = true, nil
		return 0
	}
}

// blob is bytes behind their length; a text is a blob in UTF-8.
func (s *scan) blob() []byte {
	switch size := s.byte(); size {
	case 255:
		return s.bytes(int(uint16(s.number(2))))
	case 254:
		return s.bytes(int(uint32(s.number(4))))
	default:
		return s.bytes(int(size))
	}
}

// skip passes over fields: a byte (b), a decimal (d), a long (l), a text or blob (t), an array of ints (a), a text
// that is there if the byte before it is 1 (o).
func (s *scan) skip(layout string) {
	for _, field := range layout {
		switch field {
		case 'b':
			s.bytes(1)
		case 'd':
			s.decimal()
		case 'l':
			s.bytes(8)
		case 't':
			s.blob()
		case 'a':
			s.bytes(4 * int(max(0, s.number(2))))
		case 'o':
			if s.byte() == 1 {
				s.blob()
			}
		}
	}
}

// value passes over a value behind its type: those that a heartbeat's tags may have.
func (s *scan) value(depth int) {
	if depth == maxValueDepth {
		s.failed, s.data = true, nil
		return
	}
	switch kind := s.byte(); kind {
	case 0: // null
	case 10: // boolean
		s.bytes(1)
	case 20: // decimal
		s.decimal()
	case 30, 51, 61: // float, hash of a text, IPv4 address
		s.bytes(4)
	case 40: // double
		s.bytes(8)
	case 50, 60: // text, blob
		s.blob()
	case 70: // list
		for range s.items() {
			s.value(depth + 1)
		}
	case 80: // map
		for range s.items() {
			s.blob()
			s.value(depth + 1)
		}
	default:
		s.failed, s.data = true, nil
	}
}

// items is how many follow: no more than there are bytes.
func (s *scan) items() int64 {
	n := s.decimal()
	if n > int64(len(s.data)) {
		s.failed, s.data = true, nil
		return 0
	}
	return n
}
