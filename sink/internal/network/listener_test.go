package network

import (
	"net"
	"testing"
	"time"
)

func TestWithFewDescriptorsTheOldestSilentConnectionMakesRoomAndTheFirstOnesStay(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := Bound(l, 1, FirstSilent+2)
	defer b.Close()
	var conns []net.Conn
	for range FirstSilent + 3 {
		conn, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	closed := conns[FirstSilent]
	closed.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := closed.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the oldest one behind the first is open: %v", err)
	}
	for _, speaker := range []net.Conn{conns[0], conns[FirstSilent+2]} {
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
	b := Bound(l, 1, FirstSilent+1)
	defer b.Close()
	for range 2 * FirstSilent {
		conn, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write([]byte("x"))
	}
	for range 2 * FirstSilent {
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

func isTimeout(err error) bool {
	failure, ok := err.(net.Error)
	return ok && failure.Timeout()
}
