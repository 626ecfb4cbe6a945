package msgpack

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tinylib/msgp/msgp"
)

func FuzzMsgpack(f *testing.F) {
	f.Add([]byte("\x91\x92\x82\xa1a\xcf\x00\x00\x00\x00\x00\x00\x00\x01\xa4meta\x81\xa1b\xa1c\x80"))
	f.Add([]byte{mpArray | 3, mpInt8, 0x80, mpBytes8, 1, 0, 0xc7, 1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		// Whatever is asked for, the scan goes on by at least a byte, stays inside, and stops for good at a fault.
		ask := []func(*Scan){
			func(s *Scan) { s.Skip() },
			func(s *Scan) { s.Text() },
			func(s *Scan) { s.Number() },
			func(s *Scan) { s.Array() },
			func(s *Scan) { s.Pairs() },
		}
		for _, step := range ask {
			s := Scan{Data: data}
			for at := 0; !s.Ended() && !s.Failed; at = s.At {
				if step(&s); s.At <= at || s.At > len(data) {
					t.Fatalf("from %d to %d of %d", at, s.At, len(data))
				}
			}
			if step(&s); s.Failed && s.At != len(data) {
				t.Fatalf("goes on at %d after a fault", s.At)
			}
		}
		compareWithLibrary(t, data)
	})
}

// compareWithLibrary checks that the scan takes what tinylib/msgp takes, and reads the same values.
func compareWithLibrary(t *testing.T, data []byte) {
	t.Helper()
	s := Scan{Data: data}
	s.Skip()
	rest, err := msgp.Skip(data)
	if errors.Is(err, msgp.ErrRecursion) {
		return
	}
	if s.Failed == (err == nil) || err == nil && s.At != len(data)-len(rest) {
		t.Fatalf("% x: skipped to %d, failed is %v; the library leaves %d of %d, %v", data, s.At, s.Failed, len(rest), len(data), err)
	}
	s = Scan{Data: data}
	var text []byte
	var value uint64
	switch msgp.NextType(data) {
	case msgp.StrType:
		text, _, err = msgp.ReadStringZC(data)
	case msgp.BinType:
		text, _, err = msgp.ReadBytesZC(data)
	case msgp.UintType:
		value, _, err = msgp.ReadUint64Bytes(data)
	case msgp.IntType:
		var signed int64
		signed, _, err = msgp.ReadInt64Bytes(data)
		value = uint64(signed)
	default:
		return
	}
	if got := s.Text(); msgp.NextType(data) == msgp.StrType || msgp.NextType(data) == msgp.BinType {
		if s.Failed == (err == nil) || err == nil && !bytes.Equal(got, text) {
			t.Fatalf("% x is %q, not %q, %v", data, got, text, err)
		}
		return
	}
	s = Scan{Data: data}
	if got, ok := s.Number(); ok != (err == nil) || got != value && ok {
		t.Fatalf("% x is %d, %v; not %d, %v", data, got, ok, value, err)
	}
}
