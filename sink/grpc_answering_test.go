package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// echoCall sends every message back.
type echoCall struct{ recordingCall }

func (e *echoCall) answer() ([]byte, bool) { return []byte(e.messages[len(e.messages)-1]), true }

// silentCall has an answer to nothing.
type silentCall struct{ recordingCall }

func (*silentCall) answer() ([]byte, bool) { return nil, false }

// serveGRPC serves a call on a port of its own.
func serveGRPC(t *testing.T, call grpcCall) (port int) {
	t.Helper()
	s := testServer(1<<20, call)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.serve(l)
	t.Cleanup(func() {
		l.Close()
		s.stop(0)
	})
	return l.Addr().(*net.TCPAddr).Port
}

// peerOf greets a server as a client does.
func peerOf(t *testing.T, port int, settings ...http2.Setting) *grpcPeer {
	t.Helper()
	conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	p := newGRPCPeer(t, conn, conn)
	io.WriteString(conn, http2.ClientPreface)
	p.framer.WriteSettings(settings...)
	return p
}

func openBothWays(t *testing.T, client *grpc.ClientConn, method string) grpc.ClientStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	stream, err := client.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func TestMessagesThatGoBothWaysAreAnsweredOneByOne(t *testing.T) {
	client := grpcClient(t, serveGRPC(t, &echoCall{}))
	stream := openBothWays(t, client, exportTraces)
	for _, text := range []string{"one", "", "three"} {
		if err := stream.SendMsg([]byte(text)); err != nil {
			t.Fatal(err)
		}
		var reply []byte
		if err := stream.RecvMsg(&reply); err != nil || string(reply) != text {
			t.Errorf("%q is answered by %q, %v", text, reply, err)
		}
	}
	stream.CloseSend()
	var more []byte
	if err := stream.RecvMsg(&more); err != io.EOF {
		t.Errorf("after the end came %q, %v", more, err)
	}
}

func TestAStreamMayStayWithoutAnswers(t *testing.T) {
	stream := openBothWays(t, grpcClient(t, serveGRPC(t, &silentCall{})), exportTraces)
	for range 100 {
		if err := stream.SendMsg([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	stream.CloseSend()
	var more []byte
	if err := stream.RecvMsg(&more); err != io.EOF {
		t.Errorf("after the end came %q, %v", more, err)
	}
}

func TestAStreamThatHasBeenAnsweredMayStillFail(t *testing.T) {
	port := serveGRPC(t, &echoCall{})
	stream := openBothWays(t, grpcClient(t, port), exportTraces)
	stream.SendMsg([]byte("one"))
	var reply []byte
	if err := stream.RecvMsg(&reply); err != nil {
		t.Fatal(err)
	}
	stream.SendMsg(make([]byte, 1<<20+1))
	if err := stream.RecvMsg(&reply); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("ended by %v", err)
	}
}

func TestAnswersWaitForTheirWindow(t *testing.T) {
	p := peerOf(t, serveGRPC(t, &echoCall{}), http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	p.headers(1, false)
	p.framer.WriteData(1, false, framed([]byte("one")))
	p.framer.WriteData(1, true, framed([]byte("two")))
	p.framer.WritePing(false, [8]byte{1})
	for answered, pinged := "", false; answered != string(framed([]byte("one")))+string(framed([]byte("two"))); {
		f, err := p.framer.ReadFrame()
		if err != nil {
			t.Fatalf("after %q: %v", answered, err)
		}
		switch f := f.(type) {
		case *http2.PingFrame:
			pinged = true
			p.framer.WriteWindowUpdate(1, 16)
		case *http2.DataFrame:
			if !pinged {
				t.Error("answered before its window was open")
			}
			answered += string(f.Data())
		}
	}
	p.expect(1, "0")
}

func TestAClientThatDoesNotReadItsAnswersIsLeft(t *testing.T) {
	call := &echoCall{}
	p := peerOf(t, serveGRPC(t, call), http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	p.headers(1, false)
	p.framer.WriteData(1, false, framed(make([]byte, grpcAnswerBytes)))
	p.expect(1, "ENHANCE_YOUR_CALM")
	if call.reason != errCutOff {
		t.Errorf("the call ended by %v", call.reason)
	}
	p.headers(3, false)
	p.framer.WriteData(3, true, framed([]byte("x")))
	p.framer.WriteWindowUpdate(3, 100)
	p.expect(3, "0")
}

func TestAFloodOfMessagesHoldsNoMoreAnswersThanAllowed(t *testing.T) {
	var flood []byte
	for len(flood) < grpcDataFrame-grpcHead {
		flood = append(flood, framed(nil)...)
	}
	data := connectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: largestWindow}}, func(p *grpcPeer) {
		p.framer.WriteWindowUpdate(0, largestWindow-firstWindow)
		p.headers(1, false)
		p.framer.WriteData(1, true, flood)
	})
	s := testServer(1<<20, &echoCall{})
	c := newGRPCConn(s, &memoryConn{data: data, piece: len(data)})
	c.run()
	if c.out.Cap() > 2*grpcReplyBytes+grpcFrame {
		t.Errorf("the answers take %d bytes", c.out.Cap())
	}
	if len(c.streams) != 0 || c.waiting != 0 {
		t.Errorf("%d streams and %d answers are left", len(c.streams), c.waiting)
	}
}

func FuzzGRPCAnswers(f *testing.F) {
	f.Add(connectionBytes(nil, func(p *grpcPeer) {
		p.call(1, []byte("one"), 3)
		p.headers(3, false)
		p.framer.WriteData(3, false, framed(make([]byte, 2*grpcAnswerBytes)))
	}), uint16(9))
	f.Add(connectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize}}, func(p *grpcPeer) {
		p.headers(1, false)
		p.framer.WriteData(1, false, append(framed([]byte("one")), framed(nil)...))
		p.framer.WriteWindowUpdate(1, 10)
		p.framer.WriteData(1, false, framed(make([]byte, grpcAnswerBytes)))
		p.headers(3, false)
		p.framer.WriteData(3, true, framed([]byte("two")))
		p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 7})
	}), uint16(1000))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		s := testServer(1<<16, nil)
		var whole, pieces []*echoCall
		for _, answer := range []struct {
			calls *[]*echoCall
			piece int
		}{{&whole, len(data)}, {&pieces, int(piece) + 1}} {
			s.methods[exportTraces] = func() grpcCall {
				call := &echoCall{}
				*answer.calls = append(*answer.calls, call)
				return call
			}
			c := newGRPCConn(s, &memoryConn{data: data, piece: answer.piece})
			c.run()
			if held := s.messages.budget.used.Load(); held != 0 || len(c.streams) != 0 || c.waiting != 0 {
				t.Fatalf("%d bytes, %d streams and %d replies are left", held, len(c.streams), c.waiting)
			}
			if c.out.Cap() > 2*(grpcReplyBytes+1<<16)+grpcFrame {
				t.Fatalf("the replies take %d bytes", c.out.Cap())
			}
		}
		if len(whole) != len(pieces) {
			t.Fatalf("%d calls, in pieces %d", len(whole), len(pieces))
		}
		for i := range whole {
			if a, b := whole[i], pieces[i]; fmt.Sprint(a.messages, a.reason) != fmt.Sprint(b.messages, b.reason) {
				t.Fatalf("%q, %v; in pieces %q, %v", a.messages, a.reason, b.messages, b.reason)
			}
		}
	})
}
