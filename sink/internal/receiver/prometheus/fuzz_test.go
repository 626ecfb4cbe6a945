package prometheus

import (
	"bytes"
	"fmt"
	"testing"
)

func FuzzPrometheus(f *testing.F) {
	f.Add([]byte("# HELP calls how many\n# TYPE calls counter\ncalls{method=\"a\"} 3.0\ncalls{method=\"b\",} 4 1395066363000\n"), "a\\\"b\n", uint32(7))
	f.Add([]byte("calls 5 1.25 # {trace_id=\"a\"} 1 1.5\n{\"calls\",le=\"+Inf\"} 2e3\nother NaN\n# EOF\n"), "}", uint32(0))
	f.Fuzz(func(t *testing.T, text []byte, label string, calls uint32) {
		for _, open := range []bool{false, true} {
			once, err := counterIn(text, "calls", open)
			if err != nil {
				continue
			}
			if once < 0 || once > mostCounted {
				t.Fatalf("%q counts %d", text, once)
			}
			// A line more, whatever its label, counts what it says, and a cut one makes all of it worthless.
			line := fmt.Sprintf("calls{label=\"%s\"} %d\n", escaped(label), calls)
			longer := append([]byte(line), text...)
			got, err := counterIn(longer, "calls", open)
			if total := once + int64(calls); err != nil && total < mostCounted || err == nil && got != total && once < 1<<40 {
				t.Fatalf("%q counts %d, with %q %d, %v", text, once, line, got, err)
			}
			for cut := 1; cut < len(line); cut += 1 + len(line)/64 {
				if got, err := counterIn([]byte(line[:cut]), "calls", open); err == nil {
					t.Fatalf("%q counts %d", line[:cut], got)
				}
			}
		}
	})
}

// escaped is how the value of a label is written.
func escaped(label string) []byte {
	var b bytes.Buffer
	for _, c := range []byte(label) {
		switch c {
		case '\\', '"':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString("\\n")
		default:
			b.WriteByte(c)
		}
	}
	return b.Bytes()
}
