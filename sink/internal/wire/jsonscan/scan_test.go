package jsonscan

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func scanned(text string) *Scan {
	return &Scan{Data: []byte(text)}
}

func validScan(text []byte) bool {
	s := Scan{Data: append([]byte(nil), text...)}
	s.Skip()
	return s.Ended()
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
		if got := string(scanned(text.String()).Text()); got != want {
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
		if s := scanned(text); s.Text() != nil || !s.Ended() {
			t.Errorf("%s as text", text)
		}
	}
	for _, text := range []string{`1`, `null`, `"a"`, `{"a":"b"}`} {
		if s := scanned(text); s.Begin('[') || !s.Ended() {
			t.Errorf("%s as an array", text)
		}
	}
	for _, text := range []string{`-1`, `1.5`, `1e3`, `null`, `"a"`, `""`, `"12 "`, `{"a":1}`, `false`, `18446744073709551616`} {
		s := scanned(text)
		if value, ok := s.Natural(); value != 0 || ok || !s.Ended() {
			t.Errorf("%s as a number is %d", text, value)
		}
	}
}

func TestNaturalNumbersAreReadFromDigitsAndStrings(t *testing.T) {
	for text, want := range map[string]uint64{`0`: 0, `7`: 7, `"1700000000000000001"`: 1700000000000000001, `18446744073709551615`: 1<<64 - 1} {
		if value, ok := scanned(text).Natural(); value != want || !ok {
			t.Errorf("%s is %d", text, value)
		}
	}
}

func TestAKeyMayBeEscaped(t *testing.T) {
	s := scanned(`{"n\u0061me":"x"}`)
	for more := s.Begin('{'); more; more = s.Next('}') {
		if string(s.Key()) != "name" || string(s.Text()) != "x" {
			t.Error("not read")
		}
	}
	if !s.Ended() {
		t.Error("not ended")
	}
}

func TestAfterAFaultNothingGoesOn(t *testing.T) {
	s := scanned(`[{"a":1},{"a" 1},{"a":1},"x"]`)
	objects := 0
	for more := s.Begin('['); more; more = s.Next(']') {
		objects++
		for more := s.Begin('{'); more; more = s.Next('}') {
			s.Key()
			s.Skip()
		}
	}
	if objects != 2 || s.Ended() || s.Text() != nil {
		t.Errorf("%d objects", objects)
	}
}
