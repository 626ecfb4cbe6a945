package network

import (
	"errors"
	"net"
	"sync"
	"time"
)

// AcceptPause is how long nothing is accepted, or read, after a failure.
const AcceptPause = 20 * time.Millisecond

// Connections serves every connection of a listener in a goroutine of its own, and ends them all at the stop.
type Connections struct {
	each func(net.Conn)
	// goodbye is written to each connection at the stop. What each writes must be whole frames, one Write for each.
	goodbye []byte

	mu       sync.Mutex
	open     map[net.Conn]struct{}
	stopping time.Time // when reading ends; zero while the sink runs
	serving  sync.WaitGroup
}

// NewConnections serves connections by each; goodbye is what every open one is told at the stop.
func NewConnections(goodbye []byte, each func(net.Conn)) *Connections {
	return &Connections{each: each, goodbye: goodbye, open: map[net.Conn]struct{}{}}
}

// Serve accepts connections until the listener is closed.
func (c *Connections) Serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of file descriptors, or the sender is gone already.
			time.Sleep(AcceptPause)
			continue
		}
		if !c.enter(conn) {
			conn.Close()
			return
		}
		go func() {
			defer c.leave(conn)
			c.ServeConn(conn)
		}()
	}
}

// ServeConn serves one connection to its end.
func (c *Connections) ServeConn(conn net.Conn) {
	c.each(conn)
}

func (c *Connections) enter(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopping.IsZero() {
		return false
	}
	c.open[conn] = struct{}{}
	c.serving.Add(1)
	return true
}

func (c *Connections) leave(conn net.Conn) {
	conn.Close()
	c.mu.Lock()
	delete(c.open, conn)
	c.mu.Unlock()
	c.serving.Done()
}

// Until sets the end of reading or writing, zero for never; at the stop, that comes first.
func (c *Connections) Until(set func(time.Time) error, end time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopping.IsZero() && (end.IsZero() || end.After(c.stopping)) {
		end = c.stopping
	}
	// A failure means that the connection is closed already.
	_ = set(end)
}

// Ending reports whether the stop has begun.
func (c *Connections) Ending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.stopping.IsZero()
}

// Stop says goodbye, and waits until all connections have ended, at the latest after the grace.
func (c *Connections) Stop(grace time.Duration) {
	c.mu.Lock()
	c.stopping = time.Now().Add(grace)
	for conn := range c.open {
		// A failure means that the connection is closed already, or that its sender does not read.
		_ = conn.SetDeadline(c.stopping)
		if len(c.goodbye) > 0 {
			go conn.Write(c.goodbye)
		}
	}
	c.mu.Unlock()
	c.serving.Wait()
}
