package grpcserver

import (
	"fmt"
	"testing"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/grpctest"
)

func FuzzGRPCAnswers(f *testing.F) {
	f.Add(grpctest.ConnectionBytes(nil, func(p *grpctest.Peer) {
		p.Call(1, []byte("one"), 3)
		p.Headers(3, false)
		p.Framer.WriteData(3, false, grpctest.Framed(make([]byte, 2*answerBytes)))
	}), uint16(9))
	f.Add(grpctest.ConnectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize}}, func(p *grpctest.Peer) {
		p.Headers(1, false)
		p.Framer.WriteData(1, false, append(grpctest.Framed([]byte("one")), grpctest.Framed(nil)...))
		p.Framer.WriteWindowUpdate(1, 10)
		p.Framer.WriteData(1, false, grpctest.Framed(make([]byte, answerBytes)))
		p.Headers(3, false)
		p.Framer.WriteData(3, true, grpctest.Framed([]byte("two")))
		p.Framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 7})
	}), uint16(1000))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		s := testServer(1<<16, nil)
		var whole, pieces []*echoCall
		for _, answer := range []struct {
			calls *[]*echoCall
			piece int
		}{{&whole, len(data)}, {&pieces, int(piece) + 1}} {
			s.methods[grpctest.ExportTraces] = func() Call {
				call := &echoCall{}
				*answer.calls = append(*answer.calls, call)
				return call
			}
			c := newConnection(s, &grpctest.MemoryConn{Data: data, Piece: answer.piece})
			c.run()
			if held := s.messages.Held(); held != 0 || len(c.streams) != 0 || c.waiting != 0 {
				t.Fatalf("%d bytes, %d streams and %d replies are left", held, len(c.streams), c.waiting)
			}
			if c.out.Cap() > 2*(replyBytes+1<<16)+frameBytes {
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
