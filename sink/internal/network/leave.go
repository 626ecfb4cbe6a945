package network

import (
	"io"
	"net"
	"time"
)

const (
	// HeaderTime is how long a client may take to say what it begins with.
	HeaderTime = 10 * time.Second
	// RefusalTime is how long a client that came to the wrong port may take to read that.
	RefusalTime = time.Second
	// refusedBytes is how much is read of what it still sends.
	refusedBytes = 64 << 10
)

// LeaveInOrder reads what a client still sends, for a while: closed with bytes unread, the connection would be reset, and
// the client might lose its answer.
func LeaveInOrder(conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(RefusalTime))
	_, _ = io.CopyN(io.Discard, conn, refusedBytes)
}
