package network

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
func sendTo(t *testing.T, d *Datagrams, times int, datagram []byte) {
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

func openSmall(t *testing.T) *Datagrams {
	t.Helper()
	d, err := OpenDatagrams(0, 8<<10)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.UDPConn.Close() })
	return d
}

func TestWhatTheKernelLosesIsCountedExactly(t *testing.T) {
	d := openSmall(t)
	if before := d.Lost(); before != 0 {
		t.Fatalf("a new socket has lost %d", before)
	}
	const sent = 500
	sendTo(t, d, sent, make([]byte, 300))
	arrived := int64(0)
	d.Rest(make([]byte, MaxDatagram), time.Now().Add(time.Minute), func(b []byte) { arrived++ })
	lost := d.Lost()
	if arrived == 0 || lost == 0 || arrived+lost != sent {
		t.Errorf("%d arrived, %d are lost of %d", arrived, lost, sent)
	}
	d.Close()
	if d.Lost() != lost {
		t.Errorf("%d are lost after the end, %d before", d.Lost(), lost)
	}
}

func TestTheReceiveBufferIsAsLargeAsTheKernelAllows(t *testing.T) {
	d, err := OpenDatagrams(0, ReceiveBuffer)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err != nil {
		t.Skip("the kernel does not tell its limit")
	}
	limit, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	granted := min(ReceiveBuffer, limit)
	if err := openSmall(t).control(func(fd int) {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, ReceiveBuffer) == nil {
			granted = ReceiveBuffer // this process may go beyond the limit
		}
	}); err != nil {
		t.Fatal(err)
	}
	// The kernel reads back twice what it grants.
	if d.BufferBytes < 2*granted {
		t.Errorf("%d bytes are read back, though twice %d are allowed", d.BufferBytes, granted)
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
