package main

import (
	"errors"
	"net"
	"sync"
	"time"
)

const acceptPause = 20 * time.Millisecond

// connections serves every connection of a listener in a goroutine of its own, and ends them all at the stop.
type connections struct {
	each func(net.Conn)
	// goodbye is written to each connection at the stop. What each writes must be whole frames, one Write for each.
	goodbye []byte

	mu       sync.Mutex
	open     map[net.Conn]struct{}
	stopping time.Time // when reading ends; zero while the sink runs
	serving  sync.WaitGroup
}

func newConnections(goodbye []byte, each func(net.Conn)) *connections {
	return &connections{each: each, goodbye: goodbye, open: map[net.Conn]struct{}{}}
}

func (c *connections) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of file descriptors, or the sender is gone already.
			time.Sleep(acceptPause)
			continue
		}
		if !c.enter(conn) {
			conn.Close()
			return
		}
		go func() {
			defer c.leave(conn)
			c.each(conn)
		}()
	}
}

func (c *connections) enter(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopping.IsZero() {
		return false
	}
	c.open[conn] = struct{}{}
	c.serving.Add(1)
	return true
}

func (c *connections) leave(conn net.Conn) {
	conn.Close()
	c.mu.Lock()
	delete(c.open, conn)
	c.mu.Unlock()
	c.serving.Done()
}

// until sets the end of reading or writing, zero for never; at the stop, that comes first.
func (c *connections) until(set func(time.Time) error, end time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopping.IsZero() && (end.IsZero() || end.After(c.stopping)) {
		end = c.stopping
	}
	// A failure means that the connection is closed already.
	_ = set(end)
}

// ending reports whether the stop has begun.
func (c *connections) ending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.stopping.IsZero()
}

func (c *connections) stop(grace time.Duration) {
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
