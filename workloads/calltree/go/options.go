package calltree

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

const usage = "usage: --calls N --depth D --method-time-ns NS --threads T --rate full|CALLS_PER_SECOND" +
	" --wait spin|park --out DIR --status FILE"

// mostDepth is what a stack of 1 GB holds with agents' frames of up to 1,000 bytes: a stack that overflows ends a Go
// program without a word to the status file.
const mostDepth = 1_000_000

// options are the parameters of one trial, as given on the command line.
type options struct {
	calls        int64
	depth        int
	methodTimeNs int64
	threads      int
	rate         float64 // calls per second, all threads together; infinite for a closed loop
	park         bool
	out, status  string
}

func (o *options) paced() bool { return !math.IsInf(o.rate, 1) }

// share is the part of total calls for a thread: equal parts, the remainder one each to the first threads.
func (o *options) share(total int64, thread int) int64 {
	share := total / int64(o.threads)
	if int64(thread) < total%int64(o.threads) {
		share++
	}
	return share
}

// parse reads options given as name and value in turn; the first that is wrong is the error.
func parse(arguments []string) (*options, error) {
	given := given{values: map[string]string{}}
	for i := 0; i < len(arguments); i += 2 {
		if i+1 == len(arguments) {
			return nil, wrong("option %s has no value", arguments[i])
		}
		given.values[arguments[i]] = arguments[i+1]
	}
	o := &options{
		calls:        given.whole("--calls", "", 1, math.MaxInt64),
		depth:        int(given.whole("--depth", "", 1, mostDepth)),
		methodTimeNs: given.whole("--method-time-ns", "0", 0, math.MaxInt64),
		threads:      int(given.whole("--threads", "1", 1, 4096)),
		rate:         given.rate(),
		park:         given.park(),
		out:          given.take("--out", ""),
		status:       given.take("--status", ""),
	}
	for name := range given.values {
		given.complain("unknown option %s", name)
	}
	return o, given.wrong
}

// given are the options that are not taken yet, and the first complaint.
type given struct {
	values map[string]string
	wrong  error
}

func wrong(format string, values ...any) error {
	return fmt.Errorf("%s\n%s", fmt.Sprintf(format, values...), usage)
}

func (g *given) complain(format string, values ...any) {
	if g.wrong == nil {
		g.wrong = wrong(format, values...)
	}
}

func (g *given) take(name, otherwise string) string {
	value, is := g.values[name]
	delete(g.values, name)
	if is {
		return value
	}
	if otherwise == "" {
		g.complain("option %s is missing", name)
	}
	return otherwise
}

func (g *given) whole(name, otherwise string, least, most int64) int64 {
	value := g.take(name, otherwise)
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || number < least || number > most {
		g.complain("%s %s: not a whole number from %d to %d", name, value, least, most)
	}
	return number
}

func (g *given) rate() float64 {
	value := g.take("--rate", "full")
	if value == "full" {
		return math.Inf(1)
	}
	rate, err := strconv.ParseFloat(value, 64)
	if err != nil || !(rate > 0 && rate <= 1e9) {
		g.complain("--rate %s: neither 'full' nor calls per second up to 1e9", value)
	}
	return rate
}

func (g *given) park() bool {
	value := g.take("--wait", "spin")
	if !slices.Contains([]string{"spin", "park"}, value) {
		g.complain("--wait %s: neither 'spin' nor 'park'", value)
	}
	return value == "park"
}
