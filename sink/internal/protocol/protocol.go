// Package protocol says what the sink must know of a protocol to offer it.
package protocol

import (
	"maps"
	"net"
	"slices"
	"time"

	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
	"tracetax/sink/internal/tree"
)

// DatagramReceiver is a receiver that takes datagrams too, on the port of its connections.
type DatagramReceiver interface {
	Receiver
	TakeFrom(*network.Datagrams)
}

// BesideReceiver is a receiver that takes connections on a second port too.
type BesideReceiver interface {
	Receiver
	ServeBeside(net.Listener)
}

// Receiver speaks one protocol: serve accepts connections until the listener is closed; stop returns when the open
// ones have ended, and ends them after the grace.
type Receiver interface {
	Serve(net.Listener)
	Stop(grace time.Duration)
}

// Protocol is what the sink must know to offer one.
type Protocol struct {
	// Signals are carried besides records, are answered, and their bytes counted.
	Signals []string
	// ConnectionBytes is what an open connection may hold in buffers.
	ConnectionBytes int64
	Structure       func() tree.Structure
	Receiver        func(recordName string, l *ledger.Ledger, m *message.Memory) Receiver
	// Beside is what a second port is called, behind the protocol's name; its receiver is a BesideReceiver then.
	Beside string
	// AnyName reports whether ledger.AnyName is understood.
	AnyName bool
	// Files is how its files are read, of a protocol that has no receiver and no port.
	Files *files.Format
	// Scraper asks for records, of a protocol where the sink asks: it has no receiver and no port either.
	Scraper func(l *ledger.Ledger, m *message.Memory) Scraper
}

// Scraper asks an agent for its metrics. Its methods are for one goroutine.
type Scraper interface {
	// Begin lets the endpoint be asked from now on, and the rise of the metric be counted.
	Begin(port int, path string, interval time.Duration, metric string) error
	// Look asks in between: a phase is about to end.
	Look()
	// Last asks a last time: the agent is about to end. It is an error before the begin.
	Last() error
	// End asks a last time, if anything has begun.
	End()
	// Answered is how many answers have come.
	Answered() int64
}

// Table is all protocols that a sink can speak, by name.
type Table map[string]Protocol

// SecondPorts are the names of all second ports, in order.
func (t Table) SecondPorts() []string {
	var ports []string
	for _, name := range t.Names() {
		if p := t[name]; p.Beside != "" {
			ports = append(ports, p.SecondPort(name))
		}
	}
	return ports
}

// SecondPort is what the second port of the protocol is called that has this name.
func (p Protocol) SecondPort(name string) string { return name + "-" + p.Beside }

// Names are those of the protocols, in order.
func (t Table) Names() []string {
	return slices.Sorted(maps.Keys(t))
}
