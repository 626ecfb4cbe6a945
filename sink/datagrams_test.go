package main

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sendTo sends so many datagrams to a loopback port.
func sendTo(t *testing.T, d *datagrams, times int, datagram []byte) {
	t.Helper()
	conn, err := net.DialUDP("udp4", nil, d.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range times {
		if _, err := conn.Write(datagram); err != nil {
			t.Fatal(err)
		}
	}
}

func openSmall(t *testing.T) *datagrams {
	t.Helper()
	d, err := openDatagrams(0, 8<<10)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.UDPConn.Close() })
	return d
}

func TestWhatTheKernelLosesIsCountedExactly(t *testing.T) {
	d := openSmall(t)
	if before := d.lost(); before != 0 {
		t.Fatalf("a new socket has lost %d", before)
	}
	const sent = 500
	sendTo(t, d, sent, make([]byte, 300))
	arrived := int64(0)
	d.rest(make([]byte, maxDatagram), time.Now().Add(time.Minute), func(b []byte) { arrived++ })
	lost := d.lost()
	if arrived == 0 || lost == 0 || arrived+lost != sent {
		t.Errorf("%d arrived, %d are lost of %d", arrived, lost, sent)
	}
	d.close()
	if d.lost() != lost {
		t.Errorf("%d are lost after the end, %d before", d.lost(), lost)
	}
}

func TestTheReceiveBufferIsAsLargeAsTheKernelAllows(t *testing.T) {
	d, err := openDatagrams(0, receiveBuffer)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	text, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err != nil {
		t.Skip("the kernel does not tell its limit")
	}
	limit, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	granted := min(receiveBuffer, limit)
	if err := openSmall(t).control(func(fd int) {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) == nil {
			granted = receiveBuffer // this process may go beyond the limit
		}
	}); err != nil {
		t.Fatal(err)
	}
	// The kernel reads back twice what it grants.
	if d.bufferBytes < 2*granted {
		t.Errorf("%d bytes are read back, though twice %d are allowed", d.bufferBytes, granted)
	}
}

func TestDropsAreThoseOfTheSocketItself(t *testing.T) {
	const table = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  123: 0100007F:9C41 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 0000000000000000 3
  124: 0100007F:9C42 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4712 2 0000000000000000 70000
  125: 0100007F:9C43 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4713 2 0000000000000000
`
	for inode, want := range map[uint64]int64{4711: 3, 4712: 70000, 4713: -1, 4714: -1} {
		if got := dropsOf([]byte(table), inode); got != want {
			t.Errorf("socket %d: %d, not %d", inode, got, want)
		}
	}
}

func TestLossInTheKernelBelongsToItsPhase(t *testing.T) {
	l := newLedger(newTreeTable(&spanChain{}, 10, 1000, 8<<20), scouter.signals)
	s := newScouterReceiver(testMethod, l, newMessages(1<<20, 4<<20))
	s.takeFrom(openSmall(t))
	buffer := make([]byte, maxDatagram)
	takeIn := func() { s.socket.rest(buffer, time.Now().Add(time.Minute), s.walk.datagram) }
	sendTo(t, s.socket, 1, scouterNames)
	takeIn()
	for phase, sent := range []int64{400, 1, 300} {
		sendTo(t, s.socket, int(sent), scouterCall(packProfile, uint64(phase+1), 10)[0])
		takeIn()
		c := l.close()
		arrived := (c.Records + c.Duplicates) / 10
		if c.LostDatagrams+arrived != sent || sent > 1 == (c.LostDatagrams == 0) {
			t.Errorf("phase %d: %d arrived and %d are lost of %d", phase, arrived, c.LostDatagrams, sent)
		}
	}
}

func TestDatagramsAndConnectionsShareAPort(t *testing.T) {
	r := startScouter(t, testMethod)
	r.dial("scouter")
	send := r.udp("scouter")
	send(scouterNames)
	send(scouterCall(packProfile, 1, 10)[0])
	r.await("both", func(c counts) bool { return c.OpenConnections == 1 && c.Records == 10 })
}
