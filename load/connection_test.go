package main

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"golang.org/x/sys/unix"

	"tracetax/load/internal/clock"
)

// pair is a connection as the load opens it, and the service's end of it.
func pair(t *testing.T) (*connection, net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	opened, err := newTarget(&options{address: address, connections: 1, timeOut: limit}).dial(address)
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close(); accepted.Close() })
	c := opened.(*connection)
	for from := c.LocalAddr().(*arrival); from.atNs == 0; { // the kernel begins a little after it is asked
		io.WriteString(accepted, ".")
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return c, accepted
}

func TestAnAnswerEndsWhenItArrivesNotWhenItIsRead(t *testing.T) {
	c, service := pair(t)
	from := c.LocalAddr().(*arrival)
	beforeNs := clock.NowNs()
	io.WriteString(service, "half an answer")
	time.Sleep(20 * time.Millisecond)
	betweenNs := clock.NowNs()
	io.WriteString(service, "and the rest")
	time.Sleep(50 * time.Millisecond)
	afterNs := clock.NowNs()
	read := make([]byte, 14)
	if length, err := c.Read(read); string(read[:length]) != "half an answer" || err != nil {
		t.Fatalf("%q, %v", read[:length], err)
	}
	const tolerance = 5_000_000 // ns: the kernel has the last bytes when writing returns; a reader had them 50 ms later
	if from.atNs < beforeNs || from.atNs > afterNs-50_000_000+tolerance {
		t.Errorf("the first half arrived at %d: not in %d to %d", from.atNs, beforeNs, afterNs)
	}
	length, err := c.Read(read)
	if string(read[:length]) != "and the rest" || err != nil || from.atNs < betweenNs || from.atNs > afterNs-50_000_000+tolerance {
		t.Errorf("%q, %v, arrived at %d: not in %d to %d", read[:length], err, from.atNs, betweenNs, afterNs)
	}
}

func TestEachRequestHasAnArrivalOfItsOwn(t *testing.T) {
	c, service := pair(t)
	first := c.LocalAddr().(*arrival)
	io.WriteString(service, "1")
	c.Read(make([]byte, 1))
	firstNs := first.atNs
	second := c.LocalAddr().(*arrival)
	io.WriteString(service, "2")
	c.Read(make([]byte, 1))
	if firstNs == 0 || first.atNs != firstNs || second.atNs <= firstNs {
		t.Errorf("the first at %d, later %d; the second at %d", firstNs, first.atNs, second.atNs)
	}
	if first.Network() != "tcp" || first.String() != c.Conn.LocalAddr().String() {
		t.Errorf("%s %s", first.Network(), first)
	}
}

func TestAnEndHasNoArrival(t *testing.T) {
	c, service := pair(t)
	from := c.LocalAddr().(*arrival)
	io.WriteString(service, "all")
	service.Close()
	if text, err := io.ReadAll(c); string(text) != "all" || err != nil || from.atNs != 0 {
		t.Errorf("%q, %v, at %d", text, err, from.atNs)
	}
}

func TestAReadThatTakesTooLongTimesOut(t *testing.T) {
	c, _ := pair(t)
	c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); !isTimeOut(err) {
		t.Error(err)
	}
	c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestAMomentThatCannotBeIsNoEnd(t *testing.T) {
	c, service := pair(t)
	response := &fasthttp.Response{}
	response.ParseNetConn(c) // as fasthttp does before it reads
	if end := endNs(response, nil, 100, 200); end != 200 {
		t.Errorf("nothing has arrived: %d", end)
	}
	beganNs := clock.NowNs()
	io.WriteString(service, "answer")
	c.Read(make([]byte, 6))
	knownNs := clock.NowNs()
	arrivedNs := c.arrived.atNs
	if end := endNs(response, nil, beganNs, knownNs); end != arrivedNs || end <= beganNs || end >= knownNs {
		t.Errorf("arrived at %d, ended at %d", arrivedNs, end)
	}
	for why, end := range map[string]int64{
		"no whole answer":          endNs(response, io.EOF, beganNs, knownNs),
		"it arrived before it was": endNs(response, nil, arrivedNs, knownNs),
		"another connection's":     endNs(&fasthttp.Response{}, nil, beganNs, knownNs),
	} {
		if end != knownNs {
			t.Errorf("%s: %d in place of %d", why, end, knownNs)
		}
	}
	if end := endNs(response, nil, beganNs, arrivedNs); end != arrivedNs {
		t.Errorf("later than it was known: %d", end)
	}
}

func TestAnArrivalThatTheKernelDidNotNoteIsNone(t *testing.T) {
	c, service := pair(t)
	io.WriteString(service, "answer")
	c.Read(make([]byte, 6))
	if c.arrivedNs() == 0 {
		t.Error("the kernel noted it")
	}
	for _, told := range []int{0, 1, unix.CmsgLen(0) - 1, unix.CmsgLen(0), unix.CmsgLen(8)} {
		c.told = told
		if atNs := c.arrivedNs(); atNs != 0 {
			t.Errorf("%d bytes of a message: at %d", told, atNs)
		}
	}
}
