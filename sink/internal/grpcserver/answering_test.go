package grpcserver

import (
	"fmt"
	"io"
	"net"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/message"
)

// echoCall sends every message back.
type echoCall struct{ recordingCall }

func (e *echoCall) Answer() ([]byte, bool) { return []byte(e.messages[len(e.messages)-1]), true }

// silentCall has an answer to nothing.
type silentCall struct{ recordingCall }

func (*silentCall) Answer() ([]byte, bool) { return nil, false }

// serveGRPC serves a call on a port of its own.
func serveGRPC(t *testing.T, call Call) (port int) {
	t.Helper()
	s := testServer(1<<20, call)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	t.Cleanup(func() {
		l.Close()
		s.Stop(0)
	})
	return l.Addr().(*net.TCPAddr).Port
}

// peerOf greets a server as a client does.
func peerOf(t *testing.T, port int, settings ...http2.Setting) *grpctest.Peer {
	t.Helper()
	conn, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return grpctest.Greet(t, conn, settings...)
}

func TestMessagesThatGoBothWaysAreAnsweredOneByOne(t *testing.T) {
	client := grpctest.Client(t, serveGRPC(t, &echoCall{}))
	stream := grpctest.OpenBothWays(t, client, grpctest.ExportTraces)
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
	stream := grpctest.OpenBothWays(t, grpctest.Client(t, serveGRPC(t, &silentCall{})), grpctest.ExportTraces)
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
	stream := grpctest.OpenBothWays(t, grpctest.Client(t, port), grpctest.ExportTraces)
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
	p.Headers(1, false)
	p.Framer.WriteData(1, false, grpctest.Framed([]byte("one")))
	p.Framer.WriteData(1, true, grpctest.Framed([]byte("two")))
	p.Framer.WritePing(false, [8]byte{1})
	for answered, pinged := "", false; answered != string(grpctest.Framed([]byte("one")))+string(grpctest.Framed([]byte("two"))); {
		f, err := p.Framer.ReadFrame()
		if err != nil {
			t.Fatalf("after %q: %v", answered, err)
		}
		switch f := f.(type) {
		case *http2.PingFrame:
			pinged = true
			p.Framer.WriteWindowUpdate(1, 16)
		case *http2.DataFrame:
			if !pinged {
				t.Error("answered before its window was open")
			}
			answered += string(f.Data())
		}
	}
	p.Expect(1, "0")
}

func TestAClientThatDoesNotReadItsAnswersIsLeft(t *testing.T) {
	call := &echoCall{}
	p := peerOf(t, serveGRPC(t, call), http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	p.Headers(1, false)
	p.Framer.WriteData(1, false, grpctest.Framed(make([]byte, answerBytes)))
	p.Expect(1, "ENHANCE_YOUR_CALM")
	if call.reason != message.ErrCutOff {
		t.Errorf("the call ended by %v", call.reason)
	}
	p.Headers(3, false)
	p.Framer.WriteData(3, true, grpctest.Framed([]byte("x")))
	p.Framer.WriteWindowUpdate(3, 100)
	p.Expect(3, "0")
}

func TestAFloodOfMessagesHoldsNoMoreAnswersThanAllowed(t *testing.T) {
	var flood []byte
	for len(flood) < dataFrameBytes-headBytes {
		flood = append(flood, grpctest.Framed(nil)...)
	}
	data := grpctest.ConnectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: largestWindow}}, func(p *grpctest.Peer) {
		p.Framer.WriteWindowUpdate(0, largestWindow-firstWindow)
		p.Headers(1, false)
		p.Framer.WriteData(1, true, flood)
	})
	s := testServer(1<<20, &echoCall{})
	c := newConnection(s, &grpctest.MemoryConn{Data: data, Piece: len(data)})
	c.run()
	if c.out.Cap() > 2*replyBytes+frameBytes {
		t.Errorf("the answers take %d bytes", c.out.Cap())
	}
	if len(c.streams) != 0 || c.waiting != 0 {
		t.Errorf("%d streams and %d answers are left", len(c.streams), c.waiting)
	}
}
