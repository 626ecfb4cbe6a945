package main

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func scanned(text string) *jsonScan {
	return &jsonScan{data: []byte(text)}
}

func validScan(text []byte) bool {
	s := jsonScan{data: append([]byte(nil), text...)}
	s.skip()
	return s.ended()
}

func TestTheScanTakesWhatIsJSONAndNothingElse(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, ` [ 1 , -0.5e+7 , 2E3, 0 , true,false , null,"" ] `, `{"a":{"b":[{}]},"c":"d"}`, `"\u00e9\n\"\\\/\b\f\r\t"`, `"ü"`, "7\n",
		``, ` `, `{`, `[`, `[1`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `[1 2]`, `{"a":1 "b":2}`, `}`, `]`, `{]`, `[}`,
		`01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x1`, `tru`, `nul`, `truefalse`, `"a`, `"\`, `"\u12`, `"\u12g4"`, `"\x"`, "\"\n\"", "\"\x00\"", `1 2`,
		"\x00", `{"a":1}}`, `[1]]`,
	} {
		if got, want := validScan([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("%q: %v, and encoding/json says %v", text, got, want)
		}
	}
}

func TestStringsMeanWhatEncodingJSONSaysWhereverTheyEnd(t *testing.T) {
	parts := []string{`a`, `längeres`, `\n`, `\"`, `\\`, `\u0041`, `\u00fc`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\ude00\ud83d`, `\u0000`, `€`, `\/`}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var text strings.Builder
		text.WriteByte('"')
		for range random.IntN(9) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		text.WriteString(`"` + strings.Repeat(" ", random.IntN(9)))
		var want string
		if err := json.Unmarshal([]byte(text.String()), &want); err != nil {
			t.Fatal(err)
		}
		if got := string(scanned(text.String()).text()); got != want {
			t.Fatalf("%s is %q, not %q", text.String(), got, want)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	for _, brackets := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
		nested := func(depth int) []byte {
			return []byte(strings.Repeat(brackets[0], depth) + "1" + strings.Repeat(brackets[1], depth))
		}
		if !validScan(nested(maxNesting)) || validScan(nested(maxNesting+1)) || validScan(nested(1_000_000)) {
			t.Errorf("%s: the limit is not %d", brackets[0], maxNesting)
		}
	}
}

func TestAValueOfAnotherKindIsEmpty(t *testing.T) {
	for _, text := range []string{`1`, `null`, `true`, `[1,[2]]`, `{"a":"b"}`} {
		if s := scanned(text); s.text() != nil || !s.ended() {
			t.Errorf("%s as text", text)
		}
	}
	for _, text := range []string{`1`, `null`, `"a"`, `{"a":"b"}`} {
		if s := scanned(text); s.begin('[') || !s.ended() {
			t.Errorf("%s as an array", text)
		}
	}
	for _, text := range []string{`-1`, `1.5`, `1e3`, `null`, `"a"`, `""`, `"12 "`, `{"a":1}`, `false`, `18446744073709551616`} {
		s := scanned(text)
		if value, ok := s.natural(); value != 0 || ok || !s.ended() {
			t.Errorf("%s as a number is %d", text, value)
		}
	}
}

func TestNaturalNumbersAreReadFromDigitsAndStrings(t *testing.T) {
	for text, want := range map[string]uint64{`0`: 0, `7`: 7, `"1700000000000000001"`: 1700000000000000001, `18446744073709551615`: 1<<64 - 1} {
		if value, ok := scanned(text).natural(); value != want || !ok {
			t.Errorf("%s is %d", text, value)
		}
	}
}

func TestAKeyMayBeEscaped(t *testing.T) {
	s := scanned(`{"n\u0061me":"x"}`)
	for more := s.begin('{'); more; more = s.next('}') {
		if string(s.key()) != "name" || string(s.text()) != "x" {
			t.Error("not read")
		}
	}
	if !s.ended() {
		t.Error("not ended")
	}
}

func TestAfterAFaultNothingGoesOn(t *testing.T) {
	s := scanned(`[{"a":1},{"a" 1},{"a":1},"x"]`)
	objects := 0
	for more := s.begin('['); more; more = s.next(']') {
		objects++
		for more := s.begin('{'); more; more = s.next('}') {
			s.key()
			s.skip()
		}
	}
	if objects != 2 || s.ended() || s.text() != nil {
		t.Errorf("%d objects", objects)
	}
}

func TestIdsAreHexadecimal(t *testing.T) {
	const trace, id = "0123456789abcdefFEDCBA9876543210", "00000000000000ff"
	for _, c := range []struct {
		trace, id, parent string
		valid             bool
	}{
		{trace, id, "", true}, {trace[16:], id, id, true}, {trace, id, "0000000000000000", true},
		{trace[1:], id, "", false}, {trace, id[1:], "", false}, {trace, id, "1", false}, {"", id, "", false},
		{strings.Repeat("0", 32), id, "", false}, {trace, strings.Repeat("0", 16), "", false},
		{trace[:31] + "g", id, "", false}, {trace, "00000000000000f ", "", false}, {trace, id, "x000000000000000", false},
	} {
		var r record
		if placeHex(&r, []byte(c.trace), []byte(c.id), []byte(c.parent)) != c.valid {
			t.Errorf("%+v", c)
		}
	}
	var r record
	placeHex(&r, []byte(trace), []byte(id), []byte("000000000000001A"))
	if want := (record{tree: treeKey{0x0123456789abcdef, 0xfedcba9876543210}, node: node{255, 26}}); r != want {
		t.Errorf("%+v", r)
	}
}
