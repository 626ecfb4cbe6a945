// Command sink receives the records of a tracing agent on loopback ports, checks that they form the expected call
// trees, and counts them. It is driven over standard input and ends with it. See README.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

const (
	defaultMaxMemory    = 1 << 30
	defaultMaxOpenTrees = 1_000_000

	// gcPercent trades memory, of which the sink holds little, for CPU, which it takes from the measured program.
	gcPercent = 400
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run starts the sink, obeys the commands of stdin until they end, and returns the exit status:
// 0 after the last report, 1 if it could not listen or report, 2 for wrong arguments.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cfg, err := parseArguments(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return 2
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(heapLimit(cfg.maxMemory))
	s, err := newSink(cfg)
	if err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return 2
	}
	ports, err := s.listen()
	if err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return 1
	}
	if err := control(s, ports, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return 1
	}
	return 0
}

// config is what the sink is told at its start.
type config struct {
	protocols    []string
	depth        int
	recordName   string
	maxOpenTrees int
	maxMemory    int64
}

func parseArguments(args []string, stderr io.Writer) (config, error) {
	var cfg config
	var names string
	flags := flag.NewFlagSet("sink", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&names, "protocols", strings.Join(protocolNames(), ","), "comma separated; all that it speaks if not given")
	flags.IntVar(&cfg.depth, "depth", 0, "records of a complete tree")
	flags.StringVar(&cfg.recordName, "record-name", "", "expected name: an OTLP span name, or a Kieker method with its class")
	flags.IntVar(&cfg.maxOpenTrees, "max-open-trees", defaultMaxOpenTrees, "unfinished trees kept per protocol")
	flags.Int64Var(&cfg.maxMemory, "max-memory", defaultMaxMemory, "bytes for trees, messages and connections together")
	if err := flags.Parse(args); err != nil {
		return cfg, err
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("unknown argument %q: all are given as --name value", flags.Arg(0))
	}
	cfg.protocols = strings.Split(names, ",")
	return cfg, cfg.validate()
}

func (c config) validate() error {
	seen := map[string]bool{}
	for _, name := range c.protocols {
		if _, ok := protocols[name]; !ok {
			return fmt.Errorf("--protocols: %q is not one of %s", name, strings.Join(protocolNames(), ", "))
		}
		if seen[name] {
			return fmt.Errorf("--protocols: %q is named twice", name)
		}
		seen[name] = true
	}
	if c.depth < 1 || c.depth > maxDepth {
		return fmt.Errorf("--depth is %d: give the records of a complete tree, 1 to %d", c.depth, maxDepth)
	}
	if c.recordName == "" {
		return fmt.Errorf("--record-name is missing: give the name that the expected records carry")
	}
	if c.maxOpenTrees < 1 {
		return fmt.Errorf("--max-open-trees is %d: at least 1 tree must fit", c.maxOpenTrees)
	}
	if c.maxMemory < minMaxMemory {
		return fmt.Errorf("--max-memory is %d: at least %d bytes are needed", c.maxMemory, minMaxMemory)
	}
	return nil
}
