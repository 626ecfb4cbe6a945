package lzo

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cases are blocks whose content is known by the description of the stream.
var cases = map[string]struct {
	block []byte
	text  string
}{
	"nothing":                           {[]byte{0x11, 0, 0}, ""},
	"one literal":                       {[]byte{18, 'a', 0x11, 0, 0}, "a"},
	"many literals first":               {append(append([]byte{17 + 20}, strings.Repeat("x", 20)...), 0x11, 0, 0), strings.Repeat("x", 20)},
	"a run of 18 literals":              {append(append([]byte{15}, strings.Repeat("y", 18)...), 0x11, 0, 0), strings.Repeat("y", 18)},
	"a run of 3+15+255+2 literals":      {append(append([]byte{0, 0, 2}, strings.Repeat("z", 275)...), 0x11, 0, 0), strings.Repeat("z", 275)},
	"a near match, which makes its own": {[]byte{18, 'a', 0x40 | 0x20 | 0<<2 | 1, 0, 'b', 0x11, 0, 0}, "aaaaab"},
	"a match of eight bytes, two back":  {[]byte{19, 'a', 'b', 0xe0 | 1<<2, 0, 0x11, 0, 0}, "ababababab"},
	"a middle match":                    {[]byte{18, 'a', 0x21, 0, 0, 0x11, 0, 0}, "aaaa"},
	"a middle match of 2+31+1":          {[]byte{18, 'a', 0x20, 1, 0, 0, 0x11, 0, 0}, strings.Repeat("a", 35)},
	"two bytes behind one literal":      {[]byte{18, 'a', 0x00, 0, 0x11, 0, 0}, "aaa"},
	"literals behind a short match":     {[]byte{18, 'a', 0x02, 0, 'b', 'c', 0x11, 0, 0}, "aaabc"},
	"a literal run behind a match":      {[]byte{18, 'a', 0x21, 0, 0, 1, 'b', 'c', 'd', 'e', 0x11, 0, 0}, "aaaabcde"},
}

func TestBlocksAreWhatTheDescriptionSays(t *testing.T) {
	for name, c := range cases {
		got, err := Decode(make([]byte, 0, 400), c.block)
		if err != nil || string(got) != c.text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if len(c.text) > 0 {
			if _, err := Decode(make([]byte, 0, len(c.text)-1), c.block); !errors.Is(err, ErrBlock) {
				t.Errorf("%s: more than there is room for: %v", name, err)
			}
		}
		for cut := range c.block {
			if got, err := Decode(make([]byte, 0, 400), c.block[:cut]); err == nil {
				t.Errorf("%s: %q of %d bytes", name, got, cut)
			}
		}
	}
}

func TestAFarMatchReachesBack16KiBAndMore(t *testing.T) {
	text := make([]byte, 20_000)
	for i := range text {
		text[i] = byte(i * i >> 3)
	}
	block := []byte{0}
	more := len(text) - 18
	for ; more > 255; more -= 255 {
		block = append(block, 0)
	}
	block = append(append(block, byte(more)), text...)
	back := 17_001
	block = append(block, 0x10|3, byte((back-farBack)<<2), byte((back-farBack)<<2>>8), 0x11, 0, 0)
	got, err := Decode(make([]byte, 0, 30_000), block)
	expected := append(bytes.Clone(text), text[len(text)-back:][:5]...)
	if err != nil || !bytes.Equal(got, expected) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestNothingBeforeTheBlockIsReached(t *testing.T) {
	into := append(make([]byte, 0, 100), "secret"...)
	if got, err := Decode(into, []byte{18, 'a', 0x21, 5 << 2, 0, 0x11, 0, 0}); err == nil {
		t.Errorf("%q", got)
	}
}

// The blocks in testdata were made by liblzo2 2.10 (lzo1x_1_compress); beside each lies its text, both in hexadecimal.
func TestBlocksOfTheLibraryAreUnderstood(t *testing.T) {
	blocks, _ := filepath.Glob("testdata/*.lzo.hex")
	if len(blocks) == 0 {
		t.Fatal("there are none")
	}
	for _, path := range blocks {
		block, text := unhex(t, path), unhex(t, strings.Replace(path, ".lzo.hex", ".txt.hex", 1))
		got, err := Decode(make([]byte, 0, len(text)), block)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d of %d bytes, %v", path, len(got), len(text), err)
		}
	}
}

func unhex(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func FuzzDecode(f *testing.F) {
	for _, c := range cases {
		f.Add(c.block, uint16(400))
	}
	f.Fuzz(func(t *testing.T, block []byte, room uint16) {
		into := append(make([]byte, 0, int(room)+3), "abc"...)
		got, err := Decode(into, block)
		if len(got) > cap(into) || !bytes.HasPrefix(got, []byte("abc")) {
			t.Fatalf("%d bytes in room for %d", len(got), room)
		}
		if err != nil && len(got) != 3 {
			t.Fatalf("%d bytes and %v", len(got), err)
		}
	})
}
