// Package scouter is Scouter's protocol: datagrams of packs, and a connection.
package scouter

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

const (
	connectionBytes = 4 << 10
	// restTime is how long it may take at the stop to enter what lies in the socket: no other account would know of it.
	restTime = 5 * time.Second
	// servicePrefix before the record's name says that the transactions of this name are the records.
	servicePrefix = "service "
)

// What an agent says first on its connection.
const (
	markAgent        = 0xcafe1001
	markAgentV2      = 0xcafe1002
	markAgentRequest = 0xcafe1011
)

// Protocol is Scouter's protocol: datagrams of packs, and one connection, on the same port number, over which a server
// may give commands: here it gives none. The executions of a call are the steps of a profile; the transaction around
// them (XLOG) is the record where the agent makes no profile, and the record's name says so.
var Protocol = protocol.Protocol{
	Signals:         []string{ledger.Metrics, heartbeats, otherSignal},
	ConnectionBytes: connectionBytes + network.MaxDatagram,
	Structure:       func() tree.Structure { return &tree.SpanChain{} },
	Receiver: func(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
		return newReceiver(recordName, l, m)
	},
}

type receiver struct {
	*network.Connections
	ledger *ledger.Ledger
	walk   *walk

	socket *network.Datagrams
	lost   int64         // datagrams of the phases before
	ended  chan struct{} // no datagram is read any more
}

func newReceiver(recordName string, l *ledger.Ledger, m *message.Memory) *receiver {
	name, services := strings.CutPrefix(recordName, servicePrefix)
	s := &receiver{
		ledger: l,
		walk:   &walk{ledger: l, batch: ledger.NewBatch(0), services: services, fragments: newFragments(m)},
		ended:  make(chan struct{}),
	}
	s.Connections = network.NewConnections(nil, s.discard)
	// A name is the method with its class, and its descriptor.
	l.NameBy(func(text []byte) bool { return ledger.NamesMethod(string(text), name) })
	l.CloseWith(s.close)
	return s
}

func (s *receiver) TakeFrom(d *network.Datagrams) {
	s.socket = d
}

func (s *receiver) Serve(l net.Listener) {
	go s.readDatagrams()
	s.Connections.Serve(l)
}

// readDatagrams enters what arrives until the stop, and then what lies in the socket.
func (s *receiver) readDatagrams() {
	defer close(s.ended)
	buffer := make([]byte, network.MaxDatagram)
	for {
		n, err := s.socket.Read(buffer)
		switch {
		case err == nil:
			s.walk.datagram(buffer[:n])
		case s.Ending():
			s.socket.Rest(buffer, time.Now().Add(restTime), s.walk.datagram)
			return
		default:
			time.Sleep(network.AcceptPause)
		}
	}
}

func (s *receiver) Stop(grace time.Duration) {
	s.Connections.Stop(grace)
	// A failure means that the socket is closed already.
	_ = s.socket.SetReadDeadline(time.Now())
	<-s.ended
	s.socket.Close()
}

// discard reads a connection and throws it away. It begins with what its sender is.
func (s *receiver) discard(conn net.Conn) {
	buffer := make([]byte, connectionBytes)
	n, err := io.ReadFull(conn, buffer[:4])
	if first := binary.BigEndian.Uint32(buffer); n == 4 &&
		first != markAgent && first != markAgentV2 && first != markAgentRequest {
		s.ledger.Reject()
	}
	for ; err == nil; n, err = conn.Read(buffer) {
		s.ledger.Other(otherSignal, int64(n))
	}
}

// close completes an account with the packs of which parts are missing, and with what was lost in the kernel.
func (s *receiver) close(c *account.Account) {
	c.CutOff += s.walk.fragments.giveUp()
	if s.socket == nil {
		return
	}
	c.ReceiveBufferBytes = s.socket.BufferBytes
	c.LostDatagrams = -1
	if lost := s.socket.Lost(); lost >= 0 {
		c.LostDatagrams, s.lost = lost-s.lost, lost
	}
}
