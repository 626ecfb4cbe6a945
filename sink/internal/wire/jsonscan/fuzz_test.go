package jsonscan

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzJSON(f *testing.F) {
	f.Add([]byte(` {"a":[1,-2.5e+3,true,null,"\u00e9\ud83d\ude00\n"],"b":{}} `))
	f.Add([]byte(`[["\\",""],0]x`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := Scan{Data: bytes.Clone(text)}
		s.Skip()
		if ended := s.Ended(); ended != json.Valid(text) && !nestsDeep(text) {
			t.Fatalf("%q: %v", text, ended)
		}
		var want string
		// encoding/json replaces what is no UTF-8, the scan leaves it alone.
		if json.Unmarshal(text, &want) == nil && utf8.Valid(text) {
			s := Scan{Data: bytes.Clone(text)}
			if got := string(s.Text()); got != want {
				t.Fatalf("%q is %q, not %q", text, got, want)
			}
		}
		n := Scan{Data: bytes.Clone(text)}
		if value, ok := n.Natural(); ok && n.Ended() {
			var want uint64
			if json.Unmarshal(bytes.Trim(text, "\" \n\r\t"), &want) == nil && value != want {
				t.Fatalf("%q is %d", text, value)
			}
		}
	})
}

// nestsDeep says that there are more brackets than may lie in one another.
func nestsDeep(text []byte) bool {
	return bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxNesting
}
