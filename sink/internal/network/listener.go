// Package network accepts connections and datagrams on loopback, and bounds how many are held.
package network

import (
	queue "container/list"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// silentTime is how long a connection may say nothing from its beginning on, if it is none of the first ones.
	silentTime = 60 * time.Second
	// FirstSilent connections of each protocol may say nothing for as long as they like: an agent that has connected
	// and holds its records back is one of them, and must not be cut off.
	FirstSilent = 64
)

// Listener serves a limited number of connections at a time. A connection takes its place when it has sent
// something: until then it costs no more than a descriptor, so that senders that only connect keep nobody waiting.
// Who speaks and finds no place waits. Beyond the first ones, the connection that has been silent for longest is closed
// after a while, and at once where another one needs its descriptor.
type Listener struct {
	net.Listener
	places chan struct{}
	ready  chan net.Conn // with a place each
	closed chan struct{}
	most   int // connections without a place

	mu       sync.Mutex
	left     *sync.Cond  // one without a place has left
	silent   *queue.List // of net.Conn, the oldest first
	waiting  int         // connections that have spoken and wait for a place
	open     int         // connections with a place
	closing  bool
	arriving sync.WaitGroup
	once     sync.Once
}

// Bound begins to accept: at most limit connections at a time are served, and most others held.
func Bound(l net.Listener, limit, most int) *Listener {
	b := &Listener{
		Listener: l,
		places:   make(chan struct{}, limit),
		ready:    make(chan net.Conn, limit),
		closed:   make(chan struct{}),
		most:     most,
		silent:   queue.New(),
	}
	b.left = sync.NewCond(&b.mu)
	b.arriving.Go(b.admit)
	return b
}

// Accept returns a connection that has sent something, and has its place.
func (l *Listener) Accept() (net.Conn, error) {
	conn, ok := <-l.ready
	if !ok {
		return nil, net.ErrClosed
	}
	leave := sync.OnceFunc(func() {
		<-l.places
		l.mu.Lock()
		l.open--
		l.mu.Unlock()
	})
	return &boundConn{Conn: conn, acknowledge: acknowledger(conn), leave: leave}, nil
}

// Close accepts no more. Of the connections that are there, those that have sent something and find a place are still
// handed out.
func (l *Listener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		err = l.Listener.Close()
		l.mu.Lock()
		l.closing = true
		for at := l.silent.Front(); at != nil; at = at.Next() {
			// A failure means that the connection is closed already.
			_ = at.Value.(net.Conn).SetReadDeadline(time.Now())
		}
		l.mu.Unlock()
		l.left.Broadcast()
		close(l.closed)
		l.arriving.Wait()
		close(l.ready)
	})
	return err
}

// Open is how many are open, without those that wait for a place.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open + l.silent.Len()
}

// admit takes connections from the kernel until the listener is closed.
func (l *Listener) admit() {
	for {
		conn, err := l.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of file descriptors, or the sender is gone already.
			l.mu.Lock()
			l.closeOldest()
			l.mu.Unlock()
			time.Sleep(AcceptPause)
			continue
		}
		at := l.enter(conn)
		l.arriving.Go(func() { l.await(conn, at) })
	}
}

// enter puts a connection to the silent ones, in the place of another one where there are too many.
func (l *Listener) enter(conn net.Conn) *queue.Element {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.silent.Len()+l.waiting >= l.most && !l.closing {
		if !l.closeOldest() {
			l.left.Wait()
		}
	}
	end := time.Now()
	if !l.closing {
		end = end.Add(silentTime)
	}
	// A failure means that the sender is gone already.
	_ = conn.SetReadDeadline(end)
	return l.silent.PushBack(conn)
}

// closeOldest closes the oldest silent connection behind the first ones, if there is any. The lock is held.
func (l *Listener) closeOldest() bool {
	if l.silent.Len() <= FirstSilent {
		return false
	}
	at := l.silent.Front()
	for range FirstSilent {
		at = at.Next()
	}
	at.Value.(net.Conn).Close()
	l.forget(at)
	return true
}

// forget takes a connection from the silent ones; false if it has been taken from them before. The lock is held.
func (l *Listener) forget(at *queue.Element) bool {
	if at.Value == nil {
		return false
	}
	l.silent.Remove(at)
	at.Value = nil
	return true
}

// isFirst reports whether a silent connection is one of the first ones.
func (l *Listener) isFirst(at *queue.Element) bool {
	for range FirstSilent {
		if at = at.Prev(); at == nil {
			return true
		}
	}
	return false
}

// await hands a connection out when it has sent something and has a place, or closes it.
func (l *Listener) await(conn net.Conn, at *queue.Element) {
	for {
		spoke, late := speaks(conn)
		l.mu.Lock()
		if at.Value == nil {
			l.mu.Unlock()
			return
		}
		if late && !l.closing && l.isFirst(at) {
			_ = conn.SetReadDeadline(time.Now().Add(silentTime))
			l.mu.Unlock()
			continue
		}
		l.forget(at)
		if !spoke {
			l.mu.Unlock()
			l.left.Signal()
			conn.Close()
			return
		}
		break
	}
	_ = conn.SetReadDeadline(time.Time{})
	placed := l.place()
	if !placed {
		l.waiting++
		l.mu.Unlock()
		select {
		case l.places <- struct{}{}:
			placed = true
		case <-l.closed:
		}
		l.mu.Lock()
		l.waiting--
		if placed {
			l.open++
		}
	}
	l.mu.Unlock()
	l.left.Signal()
	if placed {
		l.ready <- conn
	} else {
		conn.Close()
	}
}

// place takes a place if one is free. The lock is held.
func (l *Listener) place() bool {
	select {
	case l.places <- struct{}{}:
		l.open++
		return true
	default:
		return false
	}
}

// speaks waits until a connection has sent something, and takes nothing of it. It is false where its sender has left,
// or where nothing has come until its deadline, which is late then.
func speaks(conn net.Conn) (spoke, late bool) {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return false, false
	}
	var first [1]byte
	look := func(fd uintptr) bool {
		n, _, err := unix.Recvfrom(int(fd), first[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		spoke = err == nil && n > 0
		return err != unix.EAGAIN && err != unix.EINTR
	}
	if err := raw.Read(look); !errors.Is(err, os.ErrDeadlineExceeded) {
		return spoke, false
	}
	// What has come meanwhile was sent before the deadline.
	_ = raw.Control(func(fd uintptr) { look(fd) })
	return spoke, !spoke
}

// Acknowledged is a connection that acknowledges at once what it has read.
func Acknowledged(conn net.Conn) net.Conn {
	return &boundConn{Conn: conn, acknowledge: acknowledger(conn), leave: func() {}}
}

// boundConn is a connection with a place, which it leaves when it is closed.
type boundConn struct {
	net.Conn
	acknowledge func()
	leave       func()
}

func (c *boundConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.acknowledge()
	}
	return n, err
}

func (c *boundConn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}
