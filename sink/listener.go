package main

import (
	"net"
	"sync"
	"sync/atomic"
)

// boundedListener accepts a limited number of connections at a time; further ones wait in the kernel's queue.
type boundedListener struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	once   sync.Once
	open   atomic.Int64
}

func bound(l net.Listener, limit int) *boundedListener {
	return &boundedListener{Listener: l, places: make(chan struct{}, limit), closed: make(chan struct{})}
}

func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	l.open.Add(1)
	leave := sync.OnceFunc(func() {
		l.open.Add(-1)
		<-l.places
	})
	return &boundedConn{Conn: conn, acknowledge: acknowledger(conn), leave: leave}, nil
}

func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// connections is how many are open.
func (l *boundedListener) connections() int {
	return int(l.open.Load())
}

type boundedConn struct {
	net.Conn
	acknowledge func()
	leave       func()
}

func (c *boundedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.acknowledge()
	}
	return n, err
}

func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}
