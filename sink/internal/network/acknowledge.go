package network

import (
	"net"

	"golang.org/x/sys/unix"
)

// acknowledger returns what acknowledges at once all that a connection has received. Left to itself, the kernel delays
// that by up to 40 ms, and a sender that keeps a last small segment back until then (Nagle's algorithm) stands still: on
// loopback, with segments of 64 KiB, nearly every batch of an exporter would, which is no property of its agent.
func acknowledger(conn net.Conn) func() {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return func() {}
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return func() {}
	}
	set := func(fd uintptr) {
		// The kernel leaves this mode by itself, so it is asked for anew after each read. A refusal costs time only.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	}
	return func() { _ = raw.Control(set) }
}
