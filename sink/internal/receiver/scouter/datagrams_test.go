package scouter

import (
	"net"
	"testing"
	"time"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/tree"
)

func TestLossInTheKernelBelongsToItsPhase(t *testing.T) {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 1000, 8<<20), Protocol.Signals)
	s := newReceiver(samples.Method, l, message.NewMemory(1<<20, 4<<20))
	socket, err := network.OpenDatagrams(0, 8<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	s.TakeFrom(socket)
	sender, err := net.DialUDP("udp4", nil, socket.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	send := func(times int, datagram []byte) {
		for range times {
			if _, err := sender.Write(datagram); err != nil {
				t.Fatal(err)
			}
		}
	}
	buffer := make([]byte, network.MaxDatagram)
	takeIn := func() { s.socket.Rest(buffer, time.Now().Add(time.Minute), s.walk.datagram) }
	send(1, scouterNames)
	takeIn()
	for phase, sent := range []int64{400, 1, 300} {
		send(int(sent), scouterCall(packProfile, uint64(phase+1), 10)[0])
		takeIn()
		c := l.Close()
		arrived := (c.Records + c.Duplicates) / 10
		if c.LostDatagrams+arrived != sent || sent > 1 == (c.LostDatagrams == 0) {
			t.Errorf("phase %d: %d arrived and %d are lost of %d", phase, arrived, c.LostDatagrams, sent)
		}
	}
}

func TestDatagramsAndConnectionsShareAPort(t *testing.T) {
	r := start(t, samples.Method)
	r.Dial("scouter")
	send := r.UDP("scouter")
	send(scouterNames)
	send(scouterCall(packProfile, 1, 10)[0])
	r.Await("both", func(c sink.Counts) bool { return c.OpenConnections == 1 && c.Records == 10 })
}
