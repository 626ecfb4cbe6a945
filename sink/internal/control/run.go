package control

import (
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/sink"
)

const (
	defaultMaxMemory    = 1 << 30
	defaultMaxOpenTrees = 1_000_000

	// gcPercent trades memory, of which the sink holds little, for CPU, which it takes from the measured program.
	gcPercent = 400
)

// Run starts the sink, obeys the commands of stdin until they end, and returns the exit status:
// 0 after the last report, 1 if it could not listen or report, 2 for wrong arguments.
func Run(table protocol.Table, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cfg, err := parseArguments(table, args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return 2
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(bounds.HeapLimit(cfg.MaxMemory))
	s, err := sink.New(cfg, table)
	if err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return 2
	}
	ports, err := s.Listen()
	if err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return 1
	}
	if err := converse(s, ports, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, "sink:", err)
		return 1
	}
	return 0
}

func parseArguments(table protocol.Table, args []string, stderr io.Writer) (sink.Config, error) {
	var cfg sink.Config
	var names string
	flags := flag.NewFlagSet("sink", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&names, "protocols", strings.Join(table.Names(), ","), "comma separated; all that it speaks if not given")
	flags.IntVar(&cfg.Depth, "depth", -1, "records of a complete tree; 0: trees are not looked at")
	flags.StringVar(&cfg.RecordName, "record-name", "", "expected name: a span name, or a Kieker method with its class; * is any, of the protocols that can do that")
	flags.IntVar(&cfg.MaxOpenTrees, "max-open-trees", defaultMaxOpenTrees, "unfinished trees kept per protocol")
	flags.Int64Var(&cfg.MaxMemory, "max-memory", defaultMaxMemory, "bytes for trees, messages and connections together")
	if err := flags.Parse(args); err != nil {
		return cfg, err
	}
	if flags.NArg() > 0 {
		return cfg, fmt.Errorf("unknown argument %q: all are given as --name value", flags.Arg(0))
	}
	cfg.Protocols = strings.Split(names, ",")
	return cfg, validate(cfg, table)
}

// validate says what is wrong with the arguments.
func validate(c sink.Config, table protocol.Table) error {
	seen := map[string]bool{}
	for _, name := range c.Protocols {
		if _, ok := table[name]; !ok {
			return fmt.Errorf("--protocols: %q is not one of %s", name, strings.Join(table.Names(), ", "))
		}
		if seen[name] {
			return fmt.Errorf("--protocols: %q is named twice", name)
		}
		seen[name] = true
	}
	if c.Depth < 0 || c.Depth > bounds.MaxDepth {
		return fmt.Errorf("--depth is %d: give the records of a complete tree, 1 to %d, or 0 for none", c.Depth, bounds.MaxDepth)
	}
	if c.RecordName == "" {
		return fmt.Errorf("--record-name is missing: give the name that the expected records carry")
	}
	if c.MaxOpenTrees < 1 {
		return fmt.Errorf("--max-open-trees is %d: at least 1 tree must fit", c.MaxOpenTrees)
	}
	if c.MaxMemory < bounds.LeastMemory {
		return fmt.Errorf("--max-memory is %d: at least %d bytes are needed", c.MaxMemory, bounds.LeastMemory)
	}
	return nil
}
