package main

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// receiveBuffer is what the kernel is asked to hold of datagrams that are not read yet: what finds no room there
	// is lost, and no sender learns of it.
	receiveBuffer = 16 << 20
	maxDatagram   = 64 << 10
	// portTries is how many free ports for connections are looked at until one is free for datagrams too.
	portTries = 32
	udpTable  = "/proc/net/udp"
)

// datagramReceiver is a receiver that takes datagrams too, on the port of its connections.
type datagramReceiver interface {
	receiver
	takeFrom(*datagrams)
}

// listenFor opens a free loopback port for connections, and for datagrams if the receiver takes them.
func listenFor(r receiver) (net.Listener, error) {
	takes, both := r.(datagramReceiver)
	for try := 1; ; try++ {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil || !both {
			return l, err
		}
		d, err := openDatagrams(l.Addr().(*net.TCPAddr).Port, receiveBuffer)
		if err == nil {
			takes.takeFrom(d)
			return l, nil
		}
		l.Close()
		if try == portTries {
			return nil, err
		}
	}
}

// datagrams is a UDP socket on loopback, and what the kernel says of it.
type datagrams struct {
	*net.UDPConn
	bufferBytes int64  // as the kernel says, its own book-keeping included
	inode       uint64 // its name in the kernel's table of sockets
	closed      bool
	lostAtEnd   int64
}

// openDatagrams binds a loopback port and asks for a buffer of so many bytes: by force, which a privileged process
// may, or else as much of it as net.core.rmem_max allows.
func openDatagrams(port, buffer int) (*datagrams, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		return nil, err
	}
	d := &datagrams{UDPConn: conn}
	err = d.control(func(fd int) {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer) != nil {
			// What it came to is read back.
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, buffer)
		}
		if got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF); err == nil {
			d.bufferBytes = int64(got)
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

func (d *datagrams) control(act func(fd int)) error {
	raw, err := d.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { act(int(fd)) })
}

// rest hands over what has arrived and was not read, until nothing is left or the time is up. It is for a socket that
// nobody else reads.
func (d *datagrams) rest(buffer []byte, until time.Time, each func([]byte)) {
	for time.Now().Before(until) {
		n, failed := 0, error(nil)
		err := d.control(func(fd int) { n, _, failed = unix.Recvfrom(fd, buffer, unix.MSG_DONTWAIT) })
		if err != nil || failed != nil {
			return
		}
		each(buffer[:n])
	}
}

// lost is how many datagrams found no room since the socket was opened; -1 where the kernel does not tell.
func (d *datagrams) lost() int64 {
	if d.closed {
		return d.lostAtEnd
	}
	table, err := os.ReadFile(udpTable)
	if err != nil {
		return -1
	}
	return dropsOf(table, d.inode)
}

// close ends the socket; what it lost stays known.
func (d *datagrams) close() {
	d.lostAtEnd, d.closed = d.lost(), true
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
