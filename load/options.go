package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

const (
	mostCalls       = 20_000_000 // each takes some 30 bytes of memory
	mostRate        = 1e6
	mostConnections = 10_000
	longest         = time.Hour
)

// options are the parameters of one trial, as given on the command line.
type options struct {
	address     string // host and port of the service
	requests    string // the file of the mix
	calls       int
	rate        float64 // requests per second; infinite where they are sent back to back
	arrivals    string
	seed        uint64
	connections int
	timeOut     time.Duration // from the real start to the end of the answer
	latest      time.Duration // from the intended start to the real one
	onTime      time.Duration // a start later than this is missed
	idle        time.Duration
	ready       string // a path, or the name of an endpoint
	readyWithin time.Duration
	out, status string
	tool        *tool // sends the measured requests, where the user has one
	inside      bool  // whether answers say how long their work took
	sinceNs     int64 // the measured request is the first that is answered, and lasts from this moment; 0 otherwise
}

func (o *options) paced() bool { return !math.IsInf(o.rate, 1) }

// parse reads the command line. The error names all that is wrong; what could be read stands in the options even then.
func parse(arguments []string) (*options, error) {
	o := &options{}
	var url, rate, command string
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&url, "url", "", "of the service: http://127.0.0.1:PORT")
	flags.StringVar(&o.requests, "requests", "", "file with the endpoints, a JSON object a line")
	flags.IntVar(&o.calls, "calls", 0, "measured requests")
	flags.StringVar(&rate, "rate", "full", "requests per second, or full: back to back on every connection")
	flags.StringVar(&o.arrivals, "arrivals", "fixed", "fixed, poisson or bursts (as many at once as there are connections)")
	flags.Uint64Var(&o.seed, "seed", 1, "of arrivals and mix")
	flags.IntVar(&o.connections, "connections", 64, "most connections at once")
	flags.DurationVar(&o.timeOut, "time-out", 5*time.Second, "of an answer, from when its request was sent")
	flags.DurationVar(&o.latest, "latest", 5*time.Second, "start after the intended one, later than which a request is given up")
	flags.DurationVar(&o.onTime, "on-time", time.Millisecond, "a start later than this is counted as missed")
	flags.DurationVar(&o.idle, "idle", time.Second, "after which an unused connection is closed")
	flags.StringVar(&o.ready, "ready", "", "path that the service answers as soon as it is ready, or the name of an endpoint")
	flags.DurationVar(&o.readyWithin, "ready-within", 30*time.Second, "the service must be ready")
	flags.StringVar(&o.out, "out", "", "folder for what was measured")
	flags.StringVar(&o.status, "status", "", "file for the course of the trial")
	flags.StringVar(&command, "tool", "", "k6 or oha, as a JSON array of words: sends the measured requests, as many as it likes")
	flags.BoolVar(&o.inside, "inside", false, "read from every answer, which is JSON, how long its work took: inside_ns")
	flags.Int64Var(&o.sinceNs, "since", 0, "CLOCK_MONOTONIC, ns: the one measured request is the first that is answered, and lasts from then on")
	if err := flags.Parse(arguments); errors.Is(err, flag.ErrHelp) {
		return o, errors.New(usage(flags))
	} else if err != nil {
		return o, err
	}
	var problems []error
	note := func(err error) { problems = append(problems, err) }
	if flags.NArg() > 0 {
		note(fmt.Errorf("unknown argument %q", flags.Arg(0)))
	}
	for _, name := range []string{"url", "requests", "ready", "out", "status"} {
		if flags.Lookup(name).Value.String() == "" {
			note(fmt.Errorf("--%s is missing", name))
		}
	}
	if url != "" {
		var err error
		o.address, err = loopbackAddress(url)
		note(err)
	}
	if command != "" {
		var err error
		o.tool, err = newTool(command, o.out)
		note(err)
	}
	note(o.check(rate))
	return o, errors.Join(problems...)
}

// check fills in the rate, and names every number that cannot be.
func (o *options) check(rate string) error {
	var problems []error
	complain := func(format string, values ...any) { problems = append(problems, fmt.Errorf(format, values...)) }
	o.rate = math.Inf(1)
	if rate != "full" {
		number, err := strconv.ParseFloat(rate, 64)
		if err != nil || !(number > 0 && number <= mostRate) {
			complain("--rate %s: neither 'full' nor requests per second up to %g", rate, mostRate)
		}
		o.rate = number
	}
	if !slices.Contains([]string{fixed, poisson, bursts}, o.arrivals) {
		complain("--arrivals %s: neither 'fixed' nor 'poisson' nor 'bursts'", o.arrivals)
	}
	if o.calls < 1 || o.calls > mostCalls {
		complain("--calls %d: not from 1 to %d", o.calls, mostCalls)
	}
	if o.connections < 1 || o.connections > mostConnections {
		complain("--connections %d: not from 1 to %d", o.connections, mostConnections)
	}
	if o.sinceNs < 0 || o.sinceNs > 0 && (o.calls != 1 || o.paced() || o.tool != nil) {
		complain("--since goes with --calls 1 and --rate full, and without --tool")
	}
	for _, given := range []struct {
		name  string
		value time.Duration
	}{{"time-out", o.timeOut}, {"latest", o.latest}, {"on-time", o.onTime}, {"idle", o.idle}, {"ready-within", o.readyWithin}} {
		if given.value <= 0 || given.value > longest {
			complain("--%s %s: not above 0 and at most %s", given.name, given.value, longest)
		}
	}
	return errors.Join(problems...)
}

func usage(flags *flag.FlagSet) string {
	text := "usage: load --url URL --requests FILE --calls N --ready PATH --out DIR --status FILE [options]"
	flags.VisitAll(func(f *flag.Flag) {
		text += fmt.Sprintf("\n  --%-13s %s", f.Name, f.Usage)
		if f.DefValue != "" && f.DefValue != "0" {
			text += " [" + f.DefValue + "]"
		}
	})
	return text
}
