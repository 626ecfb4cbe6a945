package prometheus

import (
	"strings"
	"testing"
)

func TestSamplesOfAMetricAreAddedUp(t *testing.T) {
	for text, want := range map[string]int64{
		"":                                      0,
		"\n\n":                                  0,
		"calls 5\n":                             5,
		"calls\t 5.0 \n":                        5,
		"calls 2.0E6\n":                         2_000_000,
		"calls 5 1395066363000\n":               5,
		"calls{} 5\n":                           5,
		"calls{a=\"x\"} 5\ncalls{a=\"y\",} 6\n": 11,
		"calls{a=\"\\\"}\\\\\"} 5\n":            5,
		"calls { a = \"x\" , b=\"\" } 5\n":      5,
		"{\"calls\",a=\"x\"} 5\n":               5,
		"{\"calls\"} 5\n":                       5,
		"calls{\"a.b\"=\"x\"} 5\n":              5,
		"calls 5.75\n":                          5,
		"calls 9007199254740992\n":              mostCounted,
		"calls_total 5\ncalls_bucket{le=\"+Inf\"} 7\nother NaN\nmore -Inf\n": 0,
		"# HELP calls how many\n# TYPE calls counter\n#calls 4\ncalls 5\n":   5,
		"# EOF\ncalls 5\n": 5,
	} {
		if got, err := counterIn([]byte(text), "calls", false); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestOpenMetricsEndWhereTheySay(t *testing.T) {
	for text, want := range map[string]int64{
		"# EOF":                0,
		"# EOF\n":              0,
		"calls_total 5\n# EOF": 5,
		"# TYPE calls counter\n# UNIT calls x\ncalls_total 5\ncalls_created 1.5e9\n# EOF\n":                      5,
		"calls_total 5 1.25 # {trace_id=\"a\"} 1 1.5\n# EOF\n":                                                   5,
		"calls_total{a=\"#\"} 5 # {} 1\n# EOF\n":                                                                 5,
		"# TYPE d histogram\nd_bucket{le=\"1.0\"} 2 # {a=\"x\"} 0.6\nd_sum 1\nd_count 2\ncalls_total 1\n# EOF\n": 1,
	} {
		if got, err := counterIn([]byte(text), "calls_total", true); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "calls_total 5\n", "# EOF\ncalls_total 5\n", "# EOF\n# EOF\n", "#EOF\n", "calls_total 5\n# EO"} {
		if got, err := counterIn([]byte(text), "calls_total", true); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestATextThatIsNotWellFormedCountsNothing(t *testing.T) {
	for _, line := range []string{
		"calls", "calls ", "calls x", "calls 5x", "calls 0x5", "calls 0x1p4", "calls 5_0", "calls 5 x", "calls 5 6 7",
		"5 5", "calls{ 5", "calls{a} 5", "calls{a=x} 5", "calls{a=\"x} 5", "calls{a=\"x\"", "calls{a=\"x\" b=\"y\"} 5",
		"calls{,} 5", "calls{:a=\"x\"} 5", "calls{\"calls\"} 5", "{} 5", "{a=\"x\"} 5", "{\"\"} 5", "{a=\"x\",\"calls\"} 5",
		"calls.x 5", "calls-x 5", "calls1.5", "calls+5", "calls 1e999", "calls 5 #", "calls 5 # 1", "calls 5 # {a=\"x\"}",
		"calls 5 # {\"a\"} 1", "calls 5 # {} 1 2 3", "calls NaN", "calls +Inf", "calls -1", "calls 9007199254740994",
		"<html>", "\x00", "calls\u00a05", "calls 5\r",
	} {
		if got, err := counterIn([]byte(line+"\n"), "calls", false); err == nil {
			t.Errorf("%q: %d", line, got)
		}
	}
	if got, err := counterIn([]byte("calls 5"), "calls", false); err == nil {
		t.Errorf("a line without its end: %d", got)
	}
	if got, err := counterIn([]byte(strings.Repeat("calls 9007199254740992\n", 2)), "calls", false); err == nil {
		t.Errorf("more than can be counted: %d", got)
	}
}
