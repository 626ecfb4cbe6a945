package msgpack

import (
	"bytes"
	"slices"
	"testing"
)

func TestNumbersOfEverySizeAreRead(t *testing.T) {
	for _, c := range []struct {
		data  []byte
		value int64
	}{
		{[]byte{0x7f}, 127},
		{[]byte{0xe0}, -32},
		{[]byte{mpUint8, 0xff}, 255},
		{[]byte{mpUint16, 0x01, 0x00}, 256},
		{[]byte{mpUint32, 0xff, 0xff, 0xff, 0xff}, 1<<32 - 1},
		{[]byte{mpUint64, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -1},
		{[]byte{mpInt8, 0x80}, -128},
		{[]byte{mpInt16, 0xff, 0x00}, -256},
		{[]byte{mpInt32, 0x80, 0, 0, 0}, -1 << 31},
		{[]byte{mpInt64, 0, 0, 0, 1, 0, 0, 0, 0}, 1 << 32},
	} {
		s := Scan{Data: c.data}
		if value, ok := s.Number(); !ok || int64(value) != c.value || !s.Ended() {
			t.Errorf("% x is %d, %v", c.data, int64(value), ok)
		}
		s = Scan{Data: c.data[:len(c.data)-1]}
		if _, ok := s.Number(); ok || s.Ended() {
			t.Errorf("% x without its end is taken", c.data)
		}
	}
}

func TestTextsOfEverySizeAreRead(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 70_000)
	for _, head := range [][]byte{
		{mpText | 3}, {mpText8, 3}, {mpText16, 0, 3}, {mpText32, 0, 0, 0, 3}, {mpBytes8, 3}, {mpBytes16, 0, 3}, {mpBytes32, 0, 0, 0, 3},
	} {
		s := Scan{Data: append(slices.Clone(head), "abc"...)}
		if got := s.Text(); string(got) != "abc" || !s.Ended() {
			t.Errorf("% x: %q", head, got)
		}
		s = Scan{Data: append(slices.Clone(head), "ab"...)}
		if got := s.Text(); got != nil || !s.Failed {
			t.Errorf("% x without its end: %q", head, got)
		}
	}
	s := Scan{Data: append([]byte{mpText32, 0, 1, 0x11, 0x70}, long...)}
	if got := s.Text(); !bytes.Equal(got, long) {
		t.Errorf("a long text has %d bytes", len(got))
	}
}

func TestAnyValueIsSkippedWhole(t *testing.T) {
	for _, value := range [][]byte{
		{5}, {0xff}, {mpNil}, {0xc2}, {0xc3},
		{mpText | 2, 'a', 'b'}, {mpBytes16, 0, 1, 7},
		{0xca, 1, 2, 3, 4}, {0xcb, 1, 2, 3, 4, 5, 6, 7, 8},
		{0xc7, 2, 9, 1, 2}, {0xc8, 0, 1, 9, 1}, {0xc9, 0, 0, 0, 1, 9, 1},
		{0xd4, 9, 1}, {0xd5, 9, 1, 2}, {0xd6, 9, 1, 2, 3, 4}, {0xd7, 9, 1, 2, 3, 4, 5, 6, 7, 8},
		append([]byte{0xd8, 9}, make([]byte, 16)...),
		{mpArray16, 0, 2, mpArray | 1, 1, mpMap | 1, 1, mpText},
		{mpMap16, 0, 1, mpText, mpArray},
		{mpArray32, 0, 0, 0, 1, 1}, {mpMap32, 0, 0, 0, 1, 1, 2},
	} {
		s := Scan{Data: append(slices.Clone(value), 42)}
		s.Skip()
		if next, ok := s.Number(); !ok || next != 42 {
			t.Errorf("% x: then %d, %v", value, next, ok)
		}
		for cut := range value {
			s := Scan{Data: value[:cut]}
			if s.Skip(); s.Ended() {
				t.Errorf("% x of % x is taken", value[:cut], value)
			}
		}
	}
}

func TestDeepNestingTakesNoStack(t *testing.T) {
	s := Scan{Data: append(bytes.Repeat([]byte{mpArray | 1}, 1<<20), 1)}
	if s.Skip(); !s.Ended() {
		t.Error("it is valid")
	}
}

func TestAnArrayCannotAnnounceMoreThanFollows(t *testing.T) {
	s := Scan{Data: []byte{mpArray32, 0xff, 0xff, 0xff, 0xff, 1, 1}}
	if n := s.Array(); n != 0 || !s.Failed {
		t.Errorf("%d values", n)
	}
	s = Scan{Data: []byte{mpText | 1, 'x'}}
	if n := s.Array(); n != 0 || !s.Failed {
		t.Errorf("a text has %d values", n)
	}
}
