package prometheus

import (
	"bytes"
	"errors"
	"strconv"
)

// mostCounted is up to where a float64 holds every whole number.
const mostCounted = 1 << 53

var errNoMetrics = errors.New("no metrics in a text format of Prometheus")

// counterIn adds up the samples of a metric in a text of metrics, whatever their labels; 0 if it has none. The text must
// be well-formed to its end, in Prometheus' own format or in OpenMetrics, which says itself where it ends.
func counterIn(text []byte, metric string, openMetrics bool) (int64, error) {
	sum, ended := 0.0, false
	for line := range bytes.Lines(text) {
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		if ended || !whole && !openMetrics {
			return 0, errNoMetrics
		}
		line = bytes.Trim(line, " \t")
		if len(line) == 0 {
			continue
		}
		if line[0] == '#' {
			ended = openMetrics && string(line) == "# EOF"
			continue
		}
		name, value, ok := sampleOf(line)
		if !ok {
			return 0, errNoMetrics
		}
		if string(name) == metric {
			sum += value
		}
	}
	// A sum that is no number is in no range.
	if ended != openMetrics || !(sum >= 0 && sum <= mostCounted) {
		return 0, errNoMetrics
	}
	return int64(sum), nil
}

// sampleOf takes a line apart: NAME{LABEL="…",…} VALUE TIMESTAMP # {…} VALUE TIMESTAMP, of which only name and value
// must be there. A name may also stand between the braces, in quotes; it is compared as it is written there.
func sampleOf(line []byte) (name []byte, value float64, ok bool) {
	s := sampleScan{rest: line}
	name = s.word(true)
	apart := bytes.IndexAny(s.rest, " \t") == 0
	if s.next('{') {
		quoted := s.labels()
		if len(name) == 0 {
			name = quoted
		} else if quoted != nil {
			s.failed = true
		}
	} else if !apart {
		return nil, 0, false
	}
	value = s.number()
	if s.blanks(); len(s.rest) > 0 && s.rest[0] != '#' {
		s.number()
	}
	if s.next('#') {
		s.exemplar()
	}
	return name, value, !s.failed && len(name) > 0 && len(s.rest) == 0
}

// sampleScan goes through one line; after a fault it goes on to no purpose, and failed says so.
type sampleScan struct {
	rest   []byte
	failed bool
}

func (s *sampleScan) blanks() {
	s.rest = bytes.TrimLeft(s.rest, " \t")
}

// next steps over blanks and then over the character, if that is there.
func (s *sampleScan) next(c byte) bool {
	s.blanks()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// word is the name of a metric or, without colons, of a label; empty if none is there.
func (s *sampleScan) word(colons bool) []byte {
	length := 0
	for length < len(s.rest) {
		c := s.rest[length]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || colons && c == ':'
		if !letter && (length == 0 || c < '0' || c > '9') {
			break
		}
		length++
	}
	word := s.rest[:length]
	s.rest = s.rest[length:]
	return word
}

// text is what stands in quotes, with its escapes as they are.
func (s *sampleScan) text() []byte {
	if !s.next('"') {
		s.failed = true
		return nil
	}
	for i := 0; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text
		}
	}
	s.failed = true
	return nil
}

// labels reads from behind the brace to behind the other one, and returns the metric's name if that is among them.
func (s *sampleScan) labels() (name []byte) {
	for first := true; !s.failed && !s.next('}'); first = false {
		if s.blanks(); len(s.rest) > 0 && s.rest[0] == '"' {
			quoted := s.text()
			if s.next('=') {
				s.text()
			} else if first {
				name = quoted
			} else {
				s.failed = true
			}
		} else {
			s.failed = len(s.word(false)) == 0 || !s.next('=')
			s.text()
		}
		if !s.next(',') {
			s.failed = s.failed || !s.next('}')
			return name
		}
	}
	return name
}

func (s *sampleScan) number() float64 {
	s.blanks()
	length := bytes.IndexAny(s.rest, " \t")
	if length < 0 {
		length = len(s.rest)
	}
	text := s.rest[:length]
	s.rest = s.rest[length:]
	value, err := strconv.ParseFloat(string(text), 64)
	// Go also reads hexadecimal numbers, and those with underscores.
	if err != nil || bytes.ContainsAny(text, "xXpP_") {
		s.failed = true
	}
	return value
}

// exemplar reads what follows a sample behind a hash: labels, a value, and perhaps when it was.
func (s *sampleScan) exemplar() {
	if !s.next('{') {
		s.failed = true
		return
	}
	s.failed = s.labels() != nil || s.failed
	s.number()
	if s.blanks(); len(s.rest) > 0 {
		s.number()
	}
}
