package main

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// idle opens connections that send nothing, and keeps them open.
func idle(t *testing.T, r *running, protocol string, number int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, number)
	for i := range conns {
		conns[i] = r.dial(protocol)
	}
	return conns
}

func TestTenThousandIdleConnectionsKeepNoSenderWaiting(t *testing.T) {
	r := startKieker(t)
	// An agent that has connected, and holds its records back.
	agent := r.dial("kieker-tcp")
	r.await("connected", func(c counts) bool { return c.OpenConnections == 1 })
	idle(t, r, "kieker-tcp", min(10_000, descriptors(t)/3))
	for trace, conn := range []net.Conn{agent, r.dial("kieker-tcp")} {
		w := newKiekerWriter()
		w.call(int64(trace), 10)
		write(t, conn, w.data)
	}
	r.await("counted", func(c counts) bool { return c.Records == 20 })
	agent.Close()
	expectCount(t, r.stop().Protocols["kieker-tcp"], protocolCount{Records: 20, CompleteTrees: 2})
}

func TestWithFewDescriptorsTheOldestSilentConnectionMakesRoomAndTheFirstOnesStay(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := bound(l, 1, firstSilent+2)
	defer b.Close()
	var conns []net.Conn
	for range firstSilent + 3 {
		conn, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	closed := conns[firstSilent]
	closed.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := closed.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the oldest one behind the first is open: %v", err)
	}
	for _, speaker := range []net.Conn{conns[0], conns[firstSilent+2]} {
		speaker.Write([]byte("x"))
		served, err := b.Accept()
		if err != nil || served.RemoteAddr().String() != speaker.LocalAddr().String() {
			t.Fatalf("served %v, %v", served, err)
		}
		served.Close()
	}
}

func TestWhoSpeaksWaitsForAPlaceAndIsNotClosed(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := bound(l, 1, firstSilent+1)
	defer b.Close()
	for range 2 * firstSilent {
		conn, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write([]byte("x"))
	}
	for range 2 * firstSilent {
		served, err := b.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := served.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		served.Close()
	}
}

// descriptors is how many this process may have.
func descriptors(t *testing.T) int {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	return int(limit.Cur)
}

func isTimeout(err error) bool {
	failure, ok := err.(net.Error)
	return ok && failure.Timeout()
}
