package grpcserver

import (
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/tree"
)

// testServer is a server for messages of any kind, with small bounds.
func testServer(limit int64, call Call) *Server {
	return New(map[string]Method{grpctest.ExportTraces: func() Call { return call }}, ledger.New(tree.NewTable(&tree.SpanChain{}, 10, 10, 1<<20), nil), message.NewMemory(limit, 4*limit))
}

// recordingCall remembers what it was told.
type recordingCall struct {
	messages []string
	reason   error
}

func (r *recordingCall) Message(data []byte, _ int64) error {
	r.messages = append(r.messages, string(data))
	return nil
}

func (r *recordingCall) End() ([]byte, error) { return []byte("bye"), nil }

func (r *recordingCall) Broken(reason error, _ int64) { r.reason = reason }

func TestAMessageThatTakesTooLongEndsItsConnection(t *testing.T) {
	call := &recordingCall{}
	s := testServer(1<<20, call)
	// The same time limits the greeting: on a busy machine that may fail, and no call begins.
	for limit := 50 * time.Millisecond; call.reason == nil && limit < time.Minute; limit *= 2 {
		s.messageTime = limit
		trickle(t, s)
	}
	if call.reason != message.ErrCutOff || s.messages.Held() != 0 {
		t.Errorf("the call ended by %v, %d bytes are held", call.reason, s.messages.Held())
	}
}

// trickle begins a message on a connection of its own and sends it byte by byte until the connection has ended.
func trickle(t *testing.T, s *Server) {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		s.ServeConn(theirs)
		theirs.Close()
	}()
	go io.Copy(io.Discard, ours)
	p := grpctest.NewPeer(t, ours, ours)
	io.WriteString(ours, http2.ClientPreface)
	p.Framer.WriteSettings()
	p.Headers(1, false)
	p.Framer.WriteData(1, false, grpctest.Framed(make([]byte, 1<<19))[:5])
	for {
		// One byte now and then does not help.
		if p.Framer.WriteData(1, false, make([]byte, 1)) != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestAStreamOfMessagesIsHandedOverAsItComesAndAnsweredAtItsEnd(t *testing.T) {
	call := &recordingCall{}
	ours, theirs := net.Pipe()
	defer ours.Close()
	s := testServer(1<<20, call)
	go s.ServeConn(theirs)
	sent := make(chan struct{})
	p := grpctest.NewPeer(t, ours, ours)
	go func() {
		defer close(sent)
		io.WriteString(ours, http2.ClientPreface)
		p.Framer.WriteSettings()
		p.Headers(1, false)
		for _, text := range []string{"one", "", "three"} {
			p.Framer.WriteData(1, false, grpctest.Framed([]byte(text)))
		}
		p.Framer.WriteData(1, true, nil)
	}()
	var reply []byte
	for {
		f, err := p.Framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := f.(*http2.DataFrame); ok {
			reply = append(reply, data.Data()...)
		}
		if headers, ok := f.(*http2.MetaHeadersFrame); ok && headers.StreamEnded() {
			break
		}
	}
	<-sent
	if len(call.messages) != 3 || call.messages[0] != "one" || call.messages[1] != "" || call.messages[2] != "three" {
		t.Errorf("handed over: %q", call.messages)
	}
	if string(reply) != string(grpctest.Framed([]byte("bye"))) {
		t.Errorf("the reply is %q", reply)
	}
}
