package network

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ReceiveBuffer is what the kernel is asked to hold of datagrams that are not read yet: what finds no room there
	// is lost, and no sender learns of it.
	ReceiveBuffer = 16 << 20
	MaxDatagram   = 64 << 10
	udpTable      = "/proc/net/udp"
)

// Datagrams is a UDP socket on loopback, and what the kernel says of it.
type Datagrams struct {
	*net.UDPConn
	BufferBytes int64  // as the kernel says, its own book-keeping included
	inode       uint64 // its name in the kernel's table of sockets
	closed      bool
	lostAtEnd   int64
}

// OpenDatagrams binds a loopback port and asks for a buffer of so many bytes: by force, which a privileged process
// may, or else as much of it as net.core.rmem_max allows.
func OpenDatagrams(port, buffer int) (*Datagrams, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return nil, err
	}
	d := &Datagrams{UDPConn: conn}
	err = d.control(func(fd int) {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer) != nil {
			// What it came to is read back.
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, buffer)
		}
		if got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF); err == nil {
			d.BufferBytes = int64(got)
		}
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) == nil {
			d.inode = stat.Ino
		}
	})
	if err != nil {
		conn.Close()
		return nil, err
	}
	return d, nil
}

func (d *Datagrams) control(act func(fd int)) error {
	raw, err := d.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { act(int(fd)) })
}

// Rest hands over what has arrived and was not read, until nothing is left or the time is up. It is for a socket that
// nobody else reads.
func (d *Datagrams) Rest(buffer []byte, until time.Time, each func([]byte)) {
	for time.Now().Before(until) {
		n, failed := 0, error(nil)
		err := d.control(func(fd int) { n, _, failed = unix.Recvfrom(fd, buffer, unix.MSG_DONTWAIT) })
		if err != nil || failed != nil {
			return
		}
		each(buffer[:n])
	}
}

// Lost is how many datagrams found no room since the socket was opened; -1 where the kernel does not tell.
func (d *Datagrams) Lost() int64 {
	if d.closed {
		return d.lostAtEnd
	}
	table, err := os.ReadFile(udpTable)
	if err != nil {
		return -1
	}
	return dropsOf(table, d.inode)
}

// Close ends the socket; what it lost stays known.
func (d *Datagrams) Close() {
	d.lostAtEnd, d.closed = d.Lost(), true
	d.UDPConn.Close()
}

// dropsOf finds the drops of one socket in the kernel's table, whose lines end with: inode, references, pointer, drops.
// It is -1 where they do not stand there.
func dropsOf(table []byte, inode uint64) int64 {
	const inodeField, dropsField = 9, 12
	for line := range bytes.Lines(table) {
		fields := bytes.Fields(line)
		if len(fields) <= dropsField || string(fields[inodeField]) != strconv.FormatUint(inode, 10) {
			continue
		}
		if drops, err := strconv.ParseInt(string(fields[dropsField]), 10, 64); err == nil {
			return drops
		}
	}
	return -1
}
