package main

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"
)

const (
	scouterConnectionBytes = 4 << 10
	// restTime is how long it may take at the stop to enter what lies in the socket: no other account would know of it.
	restTime = 5 * time.Second
	// scouterService before the record's name says that the transactions of this name are the records.
	scouterService = "service "
)

// What an agent says first on its connection.
const (
	scouterAgent        = 0xcafe1001
	scouterAgentV2      = 0xcafe1002
	scouterAgentRequest = 0xcafe1011
)

// scouter is Scouter's protocol: datagrams of packs, and one connection, on the same port number, over which a server
// may give commands: here it gives none. The executions of a call are the steps of a profile; the transaction around
// them (XLOG) is the record where the agent makes no profile, and the record's name says so.
var scouter = protocol{
	signals:         []string{metrics, heartbeats, otherSignal},
	connectionBytes: scouterConnectionBytes + maxDatagram,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		return newScouterReceiver(recordName, l, m)
	},
}

type scouterReceiver struct {
	*connections
	ledger *ledger
	walk   *scouterWalk

	socket *datagrams
	lost   int64         // datagrams of the phases before
	ended  chan struct{} // no datagram is read any more
}

func newScouterReceiver(recordName string, l *ledger, m *messages) *scouterReceiver {
	name, services := strings.CutPrefix(recordName, scouterService)
	s := &scouterReceiver{
		ledger: l,
		walk:   &scouterWalk{ledger: l, batch: newBatch(0), services: services, fragments: newFragments(m)},
		ended:  make(chan struct{}),
	}
	s.connections = newConnections(nil, s.discard)
	// A name is the method with its class, and its descriptor.
	l.names = newNameTable(func(text []byte) bool { return namesMethod(string(text), name) })
	l.closing = s.close
	return s
}

func (s *scouterReceiver) takeFrom(d *datagrams) {
	s.socket = d
}

func (s *scouterReceiver) serve(l net.Listener) {
	go s.readDatagrams()
	s.connections.serve(l)
}

// readDatagrams enters what arrives until the stop, and then what lies in the socket.
func (s *scouterReceiver) readDatagrams() {
	defer close(s.ended)
	buffer := make([]byte, maxDatagram)
	for {
		n, err := s.socket.Read(buffer)
		switch {
		case err == nil:
			s.walk.datagram(buffer[:n])
		case s.ending():
			s.socket.rest(buffer, time.Now().Add(restTime), s.walk.datagram)
			return
		default:
			time.Sleep(acceptPause)
		}
	}
}

func (s *scouterReceiver) stop(grace time.Duration) {
	s.connections.stop(grace)
	// A failure means that the socket is closed already.
	_ = s.socket.SetReadDeadline(time.Now())
	<-s.ended
	s.socket.close()
}

// discard reads a connection and throws it away. It begins with what its sender is.
func (s *scouterReceiver) discard(conn net.Conn) {
	buffer := make([]byte, scouterConnectionBytes)
	n, err := io.ReadFull(conn, buffer[:4])
	if first := binary.BigEndian.Uint32(buffer); n == 4 &&
		first != scouterAgent && first != scouterAgentV2 && first != scouterAgentRequest {
		s.ledger.reject()
	}
	for ; err == nil; n, err = conn.Read(buffer) {
		s.ledger.other(otherSignal, int64(n))
	}
}

// close completes an account with the packs of which parts are missing, and with what was lost in the kernel.
func (s *scouterReceiver) close(c *protocolCount) {
	c.CutOff += s.walk.fragments.giveUp()
	if s.socket == nil {
		return
	}
	c.ReceiveBufferBytes = s.socket.bufferBytes
	c.LostDatagrams = -1
	if lost := s.socket.lost(); lost >= 0 {
		c.LostDatagrams, s.lost = lost-s.lost, lost
	}
}
