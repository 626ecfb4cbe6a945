package otlp

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
)

// What the server allows, and what HTTP/2 and gRPC say.
const (
	headerBytesAllowed = 16 << 10
	streamsAllowed     = 16
	frameAllowed       = 16 << 10
	dataFrameAllowed   = 1 << 20
	windowAllowed      = 1<<31 - 1
	windowAtFirst      = 65_535
	messageHead        = 5
)

func TestAConnectionThatDoesNotSpeakHTTP2IsClosed(t *testing.T) {
	r, _ := startGRPC(t)
	for _, hello := range []string{"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", string(make([]byte, 100)), http2.ClientPreface[:23] + "!"} {
		conn := r.Dial("otlp-grpc")
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		io.WriteString(conn, hello)
		if _, err := io.Copy(io.Discard, conn); err != nil && err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%.10q: %v", hello, err)
		}
	}
	expectService(t, r)
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 10, CompleteTrees: 1, HTTPAtGRPC: 1})
}

func TestTheFirstFrameMustBeSettings(t *testing.T) {
	r, _ := startGRPC(t)
	conn := r.Dial("otlp-grpc")
	p := grpctest.NewPeer(t, conn, conn)
	io.WriteString(conn, http2.ClientPreface)
	p.Framer.WritePing(false, [8]byte{})
	p.Expect(0, "PROTOCOL_ERROR")
}

func TestHugeHeadersAreRefused(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	p.Headers(1, true, "x", string(bytes.Repeat([]byte("a"), headerBytesAllowed)))
	p.Expect(1, "8")
	p = connectGRPC(t, r)
	go p.Headers(1, true, "x", string(bytes.Repeat([]byte("a"), 100*headerBytesAllowed)))
	if got := p.Status(1); got == "0" {
		t.Errorf("answered %q", got)
	}
	expectService(t, r)
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 10, CompleteTrees: 1})
}

func TestStreamsBeyondTheLimitAreRefusedAndTheOthersServed(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	for i := range uint32(streamsAllowed) {
		p.Headers(2*i+1, false)
	}
	p.Headers(2*streamsAllowed+1, false)
	p.Expect(2*streamsAllowed+1, "REFUSED_STREAM")
	p.Framer.WriteData(1, true, grpctest.Framed(samples.ExportRequest(samples.CallSpans(1, 10)...)))
	p.Expect(1, "0")
	p.Conn.Close()
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 10, CompleteTrees: 1, CutOff: streamsAllowed - 1})
}

func TestAFloodOfResetsHoldsNothing(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	const calls = 10_000
	go io.Copy(io.Discard, p.Conn)
	for i := range uint32(calls) {
		p.Headers(2*i+1, false)
		p.Framer.WriteData(2*i+1, false, grpctest.Framed(make([]byte, 100))[:50])
		p.Framer.WriteRSTStream(2*i+1, http2.ErrCodeCancel)
	}
	r.Await("counted", func(c sink.Counts) bool { return c.Bytes == calls*45 })
	expectService(t, r)
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 10, CompleteTrees: 1, CutOff: calls})
}

func TestAReplyWaitsForItsWindow(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	p.Call(1, samples.ExportRequest(samples.CallSpans(1, 10)...), 1000)
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 10 })
	p.Call(3, samples.ExportRequest(samples.CallSpans(2, 10)...), 1000)
	p.Framer.WriteWindowUpdate(3, messageHead)
	p.Expect(3, "0")
	p.Framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100})
	p.Expect(1, "0")
}

func TestWindowsCannotOverflow(t *testing.T) {
	r, _ := startGRPC(t)
	for name, act := range map[string]func(*grpctest.Peer){
		"of the connection": func(p *grpctest.Peer) { p.Framer.WriteWindowUpdate(0, windowAllowed) },
		"of streams to come": func(p *grpctest.Peer) {
			p.Headers(1, false)
			p.Framer.WriteWindowUpdate(1, windowAllowed-windowAtFirst)
			p.Framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: windowAtFirst + 1})
		},
		"of a stream": func(p *grpctest.Peer) {
			p.Headers(1, false)
			p.Framer.WriteWindowUpdate(1, windowAllowed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := connectGRPC(t, r)
			act(p)
			p.Expect(1, "FLOW_CONTROL_ERROR")
		})
	}
	p := connectGRPC(t, r)
	p.Framer.WriteWindowUpdate(0, 0)
	p.Expect(0, "PROTOCOL_ERROR")
	expectService(t, r)
}

func TestFramesThatBreakTheProtocolEndTheConnection(t *testing.T) {
	r, _ := startGRPC(t)
	for name, act := range map[string]func(*grpctest.Peer){
		"data on no stream":          func(p *grpctest.Peer) { p.Framer.WriteData(0, false, []byte("x")) },
		"data before its headers":    func(p *grpctest.Peer) { p.Framer.WriteData(1, false, []byte("x")) },
		"a stream of the server":     func(p *grpctest.Peer) { p.Headers(2, false) },
		"a reset before its headers": func(p *grpctest.Peer) { p.Framer.WriteRSTStream(1, http2.ErrCodeCancel) },
		"a push":                     func(p *grpctest.Peer) { p.Framer.WriteRawFrame(http2.FramePushPromise, 4, 1, make([]byte, 4)) },
		"a continuation of nothing":  func(p *grpctest.Peer) { p.Framer.WriteContinuation(1, true, nil) },
		"padding beyond its frame": func(p *grpctest.Peer) {
			p.Headers(1, false)
			p.Framer.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte{9, 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := connectGRPC(t, r)
			act(p)
			p.Expect(0, "PROTOCOL_ERROR")
		})
	}
	for name, act := range map[string]func(*grpctest.Peer){
		"large": func(p *grpctest.Peer) { p.Framer.WriteRawFrame(0x77, 0, 0, make([]byte, frameAllowed+1)) },
		"data": func(p *grpctest.Peer) {
			p.Headers(1, false)
			p.Framer.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, dataFrameAllowed+1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := connectGRPC(t, r)
			go act(p)
			p.Expect(0, "FRAME_SIZE_ERROR")
		})
	}
	expectService(t, r)
}

func TestPaddingAndUnknownFramesAreSkipped(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	p.Headers(1, false)
	message := grpctest.Framed(samples.ExportRequest(samples.CallSpans(1, 10)...))
	p.Framer.WriteRawFrame(0x77, 0xff, 1, make([]byte, 1000))
	p.Framer.WriteDataPadded(1, false, message[:100], make([]byte, 200))
	p.Framer.WriteDataPadded(1, false, nil, make([]byte, 255))
	p.Framer.WritePriority(1, http2.PriorityParam{Weight: 3})
	p.Framer.WriteDataPadded(1, true, message[100:], nil)
	p.Expect(1, "0")
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 10, CompleteTrees: 1})
}

func TestCallsMayBeMixedFrameByFrame(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	var messages [3][]byte
	for i := range messages {
		messages[i] = grpctest.Framed(samples.ExportRequest(samples.CallSpans(uint64(i+1), 10)...))
		p.Headers(uint32(2*i+1), false)
	}
	for at := 0; at < len(messages[0]); at += 7 {
		for i, message := range messages {
			p.Framer.WriteData(uint32(2*i+1), at+7 >= len(message), message[at:min(at+7, len(message))])
		}
	}
	p.Expect(5, "0")
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 30, CompleteTrees: 3})
}

func TestASecondMessageInAUnaryCallIsMalformed(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	message := grpctest.Framed(samples.ExportRequest(samples.CallSpans(1, 10)...))
	p.Headers(1, false)
	p.Framer.WriteData(1, true, append(message, message...))
	p.Expect(1, "3")
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestACallWhoseSenderLeavesIsCutOff(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	message := grpctest.Framed(samples.ExportRequest(samples.CallSpans(1, 10)...))
	p.Headers(1, false)
	p.Framer.WriteData(1, false, message[:len(message)-1])
	p.Conn.Close()
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{CutOff: 1})
}

func TestAStoppingSinkSaysGoodbye(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	p.Call(1, samples.ExportRequest(samples.CallSpans(1, 10)...), 1000)
	p.Expect(1, "0")
	stopped := make(chan sink.Report)
	go func() { stopped <- r.Stop() }()
	p.Expect(0, "NO_ERROR")
	p.Conn.Close()
	<-stopped
}
