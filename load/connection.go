package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"

	"tracetax/load/internal/clock"
)

// arrival is the local address of a connection during one request, and when what was read last had reached this
// machine. fasthttp hands a connection's address on with each answer, and nothing else of the connection.
type arrival struct {
	net.Addr
	atNs int64 // as clock.NowNs; 0 where the kernel did not say
}

// connection is a TCP connection that asks the kernel when what it reads had arrived (SO_TIMESTAMPNS). Until a reader
// is awake on a busy core, an answer may lie there for a while; that time is the load's, not the service's.
type connection struct {
	net.Conn
	raw     syscall.RawConn
	arrived *arrival
	control [64]byte // takes one message with one timestamp
	attempt func(descriptor uintptr) bool
	into    []byte
	length  int
	told    int // bytes of control
	failed  error
}

// noteArrivals has the kernel note arrivals while this program runs, by a socket that nothing is sent to. Each connection
// asks too, but the kernel begins a little after the first asks, and ends with the last.
var noteArrivals = sync.OnceValue(func() error {
	descriptor, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return askForArrivals(descriptor)
})

func askForArrivals(descriptor int) error {
	if err := unix.SetsockoptInt(descriptor, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return fmt.Errorf("the kernel gives no timestamps of arrivals: %w", err)
	}
	return nil
}

// newConnection switches the kernel's timestamps on.
func newConnection(tcp *net.TCPConn) (*connection, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: tcp, raw: raw}
	c.attempt = c.receive
	controlled := raw.Control(func(descriptor uintptr) { err = askForArrivals(int(descriptor)) })
	if err = errors.Join(controlled, err); err != nil {
		return nil, err
	}
	return c, nil
}

// LocalAddr is the address for one request: what is read from now on is noted there.
func (c *connection) LocalAddr() net.Addr {
	c.arrived = &arrival{Addr: c.Conn.LocalAddr()}
	return c.arrived
}

// Read reads as the connection does, and notes the arrival.
func (c *connection) Read(into []byte) (int, error) {
	c.into, c.length, c.failed = into, 0, nil
	err := c.raw.Read(c.attempt)
	c.into = nil
	switch {
	case err != nil:
		return 0, err
	case c.failed != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Addr: c.Conn.RemoteAddr(), Err: os.NewSyscallError("recvmsg", c.failed)}
	case c.length == 0 && len(into) > 0:
		c.note(0)
		return 0, io.EOF
	}
	c.note(c.arrivedNs())
	return c.length, nil
}

func (c *connection) note(atNs int64) {
	if c.arrived != nil {
		c.arrived.atNs = atNs
	}
}

// receive tries once; false has Go's poller wait until there is something.
func (c *connection) receive(descriptor uintptr) bool {
	for {
		c.length, c.told, _, _, c.failed = unix.Recvmsg(int(descriptor), c.into, c.control[:], 0)
		if c.failed != unix.EINTR {
			return c.failed != unix.EAGAIN
		}
	}
}

// arrivedNs is when what was read had arrived, by the clock of this program. The kernel tells the time of day: how long
// ago it was counts, so a step of that clock matters only in between. 0 if the kernel said nothing, or nonsense.
func (c *connection) arrivedNs() int64 {
	if c.told < unix.CmsgLen(0) {
		return 0 // the kernel has noted nothing
	}
	today, nowNs := time.Now().UnixNano(), clock.NowNs()
	header, stamp, _, err := unix.ParseOneSocketControlMessage(c.control[:c.told])
	if err != nil || header.Level != unix.SOL_SOCKET || header.Type != unix.SCM_TIMESTAMPNS || len(stamp) < 16 {
		return 0
	}
	seconds, rest := binary.NativeEndian.Uint64(stamp), binary.NativeEndian.Uint64(stamp[8:])
	ago := today - int64(seconds)*int64(time.Second) - int64(rest)
	if ago < 0 {
		return 0
	}
	return nowNs - ago
}

// endNs is when the last of an answer had arrived; when what came of a request was known, where no whole answer did. A
// moment before the request began comes of a step of the time of day, or of bytes that nobody asked for.
func endNs(response *fasthttp.Response, err error, beganNs, knownNs int64) int64 {
	a, is := response.LocalAddr().(*arrival)
	if err == nil && is && a.atNs > beganNs && a.atNs < knownNs {
		return a.atNs
	}
	return knownNs
}
