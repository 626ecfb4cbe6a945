// Package sink puts the parts together: the receivers with their listeners and ledgers, and the phases in which they
// count.
package sink

import (
	"fmt"
	"net"
	"sync"
	"time"

	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// stopGrace is how long connections may go on delivering what they have already sent when the sink stops.
const stopGrace = 200 * time.Millisecond

// Sink is the receivers with their ledgers, and the phase that they count in.
type Sink struct {
	channels []*channel

	phase     string
	cpuBefore int64 // CPU time at the beginning of the phase

	next    string   // the phase that begins by itself; "" for none
	armed   *channel // whose records decide when
	earlier []Report // phases that have closed by themselves, for the last report
}

// channel is one protocol at work: with a receiver and its listener, a reader of files, or a scraper.
type channel struct {
	name     string
	ledger   *ledger.Ledger
	reader   *files.Reader
	scraper  protocol.Scraper
	receiver protocol.Receiver
	limit    int    // of connections that are served at a time
	silent   int    // of connections that are held besides
	beside   string // the name of its second port; "" for none
	doors    []door
}

// door is where connections come in.
type door struct {
	listener *network.Listener
	served   chan struct{} // every connection has been handed to the receiver
}

// New puts a sink together; it does not listen yet.
func New(cfg Config, table protocol.Table) (*Sink, error) {
	bounds := bounds.Divide(cfg.MaxMemory, len(cfg.Protocols))
	messages := message.NewMemory(bounds.MessageLimit, bounds.MessageBytes)
	s := &Sink{phase: "start", cpuBefore: clock.CPUNs()}
	for _, name := range cfg.Protocols {
		p, ok := table[name]
		if !ok {
			return nil, fmt.Errorf("unknown protocol %q", name)
		}
		ledger := ledger.New(tree.NewTable(p.Structure(), cfg.Depth, cfg.MaxOpenTrees, bounds.TreeBytes), p.Signals)
		c := &channel{name: name, ledger: ledger}
		switch {
		case p.Files != nil:
			c.reader = files.NewReader(cfg.RecordName, p.Files, ledger)
		case p.Scraper != nil:
			c.scraper = p.Scraper(ledger, messages)
		default:
			c.receiver = p.Receiver(cfg.RecordName, ledger, messages)
			c.limit, c.silent = bounds.Connections(p.ConnectionBytes), bounds.Silent
			if p.Beside != "" {
				c.beside = p.SecondPort(name)
			}
		}
		s.channels = append(s.channels, c)
	}
	return s, nil
}

// Listen opens a free loopback port per protocol that is received, and a second one where it has two, begins to accept,
// and returns the ports.
func (s *Sink) Listen() (map[string]int, error) {
	ports := map[string]int{}
	for _, c := range s.channels {
		if c.receiver == nil {
			continue
		}
		names := []string{c.name}
		if c.beside != "" {
			names = append(names, c.beside)
		}
		for _, name := range names {
			l, err := listenFor(c.receiver)
			if err != nil {
				return nil, fmt.Errorf("no port for %s: %w", name, err)
			}
			c.doors = append(c.doors, door{network.Bound(l, c.limit, c.silent), make(chan struct{})})
			ports[name] = l.Addr().(*net.TCPAddr).Port
		}
	}
	for _, c := range s.channels {
		for i, d := range c.doors {
			serve := c.receiver.Serve
			if i > 0 {
				serve = c.receiver.(protocol.BesideReceiver).ServeBeside
			}
			go func() {
				defer close(d.served)
				serve(d.listener)
			}()
		}
	}
	return ports, nil
}

// Stop takes no more connections, lets the open ones finish within the grace, and returns the last phase's report;
// open connections are those that were open when it was called.
func (s *Sink) Stop() Report {
	open := s.openConnections()
	var stopping sync.WaitGroup
	for _, c := range s.channels {
		if c.reader != nil {
			c.reader.Stop()
		}
		if c.scraper != nil {
			c.scraper.End()
		}
		if c.receiver == nil {
			continue
		}
		stopping.Go(func() {
			for _, d := range c.doors {
				d.listener.Close()
				<-d.served
			}
			c.receiver.Stop(stopGrace)
		})
	}
	stopping.Wait()
	r := s.BeginPhase("")
	r.OpenConnections, r.Earlier = open, s.earlier
	return r
}

func (s *Sink) openConnections() int {
	sum := 0
	for _, c := range s.channels {
		for _, d := range c.doors {
			sum += d.listener.Open()
		}
	}
	return sum
}

// Config is what the sink is told at its start.
type Config struct {
	Protocols    []string
	Depth        int
	RecordName   string
	MaxOpenTrees int
	MaxMemory    int64
}
