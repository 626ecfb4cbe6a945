package main

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func TestAConnectionThatDoesNotSpeakHTTP2IsClosed(t *testing.T) {
	r, _ := startGRPC(t)
	for _, hello := range []string{"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", string(make([]byte, 100)), http2.ClientPreface[:23] + "!"} {
		conn := r.dial("otlp-grpc")
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		io.WriteString(conn, hello)
		if _, err := io.Copy(io.Discard, conn); err != nil && err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%.10q: %v", hello, err)
		}
	}
	expectService(t, r)
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 10, CompleteTrees: 1, HTTPAtGRPC: 1})
}

func TestTheFirstFrameMustBeSettings(t *testing.T) {
	r, _ := startGRPC(t)
	conn := r.dial("otlp-grpc")
	p := newGRPCPeer(t, conn, conn)
	io.WriteString(conn, http2.ClientPreface)
	p.framer.WritePing(false, [8]byte{})
	p.expect(0, "PROTOCOL_ERROR")
}

func TestHugeHeadersAreRefused(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	p.headers(1, true, "x", string(bytes.Repeat([]byte("a"), grpcHeaderBytes)))
	p.expect(1, "8")
	p = connectGRPC(t, r)
	go p.headers(1, true, "x", string(bytes.Repeat([]byte("a"), 100*grpcHeaderBytes)))
	if got := p.status(1); got == "0" {
		t.Errorf("answered %q", got)
	}
	expectService(t, r)
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 10, CompleteTrees: 1})
}

func TestStreamsBeyondTheLimitAreRefusedAndTheOthersServed(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	for i := range uint32(grpcStreams) {
		p.headers(2*i+1, false)
	}
	p.headers(2*grpcStreams+1, false)
	p.expect(2*grpcStreams+1, "REFUSED_STREAM")
	p.framer.WriteData(1, true, framed(exportRequest(callSpans(1, 10)...)))
	p.expect(1, "0")
	p.conn.Close()
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 10, CompleteTrees: 1, CutOff: grpcStreams - 1})
}

func TestAFloodOfResetsHoldsNothing(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	const calls = 10_000
	go io.Copy(io.Discard, p.conn)
	for i := range uint32(calls) {
		p.headers(2*i+1, false)
		p.framer.WriteData(2*i+1, false, framed(make([]byte, 100))[:50])
		p.framer.WriteRSTStream(2*i+1, http2.ErrCodeCancel)
	}
	r.await("counted", func(c counts) bool { return c.Bytes == calls*45 })
	expectService(t, r)
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 10, CompleteTrees: 1, CutOff: calls})
}

func TestAReplyWaitsForItsWindow(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	p.call(1, exportRequest(callSpans(1, 10)...), 1000)
	r.await("counted", func(c counts) bool { return c.Records == 10 })
	p.call(3, exportRequest(callSpans(2, 10)...), 1000)
	p.framer.WriteWindowUpdate(3, grpcHead)
	p.expect(3, "0")
	p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 100})
	p.expect(1, "0")
}

func TestWindowsCannotOverflow(t *testing.T) {
	r, _ := startGRPC(t)
	for name, act := range map[string]func(*grpcPeer){
		"of the connection": func(p *grpcPeer) { p.framer.WriteWindowUpdate(0, largestWindow) },
		"of streams to come": func(p *grpcPeer) {
			p.headers(1, false)
			p.framer.WriteWindowUpdate(1, largestWindow-firstWindow)
			p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: firstWindow + 1})
		},
		"of a stream": func(p *grpcPeer) {
			p.headers(1, false)
			p.framer.WriteWindowUpdate(1, largestWindow)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := connectGRPC(t, r)
			act(p)
			p.expect(1, "FLOW_CONTROL_ERROR")
		})
	}
	p := connectGRPC(t, r)
	p.framer.WriteWindowUpdate(0, 0)
	p.expect(0, "PROTOCOL_ERROR")
	expectService(t, r)
}

func TestFramesThatBreakTheProtocolEndTheConnection(t *testing.T) {
	r, _ := startGRPC(t)
	for name, act := range map[string]func(*grpcPeer){
		"data on no stream":          func(p *grpcPeer) { p.framer.WriteData(0, false, []byte("x")) },
		"data before its headers":    func(p *grpcPeer) { p.framer.WriteData(1, false, []byte("x")) },
		"a stream of the server":     func(p *grpcPeer) { p.headers(2, false) },
		"a reset before its headers": func(p *grpcPeer) { p.framer.WriteRSTStream(1, http2.ErrCodeCancel) },
		"a push":                     func(p *grpcPeer) { p.framer.WriteRawFrame(http2.FramePushPromise, 4, 1, make([]byte, 4)) },
		"a continuation of nothing":  func(p *grpcPeer) { p.framer.WriteContinuation(1, true, nil) },
		"padding beyond its frame": func(p *grpcPeer) {
			p.headers(1, false)
			p.framer.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte{9, 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := connectGRPC(t, r)
			act(p)
			p.expect(0, "PROTOCOL_ERROR")
		})
	}
	for name, act := range map[string]func(*grpcPeer){
		"large": func(p *grpcPeer) { p.framer.WriteRawFrame(0x77, 0, 0, make([]byte, grpcFrame+1)) },
		"data": func(p *grpcPeer) {
			p.headers(1, false)
			p.framer.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, grpcDataFrame+1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := connectGRPC(t, r)
			go act(p)
			p.expect(0, "FRAME_SIZE_ERROR")
		})
	}
	expectService(t, r)
}

func TestPaddingAndUnknownFramesAreSkipped(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	p.headers(1, false)
	message := framed(exportRequest(callSpans(1, 10)...))
	p.framer.WriteRawFrame(0x77, 0xff, 1, make([]byte, 1000))
	p.framer.WriteDataPadded(1, false, message[:100], make([]byte, 200))
	p.framer.WriteDataPadded(1, false, nil, make([]byte, 255))
	p.framer.WritePriority(1, http2.PriorityParam{Weight: 3})
	p.framer.WriteDataPadded(1, true, message[100:], nil)
	p.expect(1, "0")
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 10, CompleteTrees: 1})
}

func TestCallsMayBeMixedFrameByFrame(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	var messages [3][]byte
	for i := range messages {
		messages[i] = framed(exportRequest(callSpans(uint64(i+1), 10)...))
		p.headers(uint32(2*i+1), false)
	}
	for at := 0; at < len(messages[0]); at += 7 {
		for i, message := range messages {
			p.framer.WriteData(uint32(2*i+1), at+7 >= len(message), message[at:min(at+7, len(message))])
		}
	}
	p.expect(5, "0")
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 30, CompleteTrees: 3})
}

func TestASecondMessageInAUnaryCallIsMalformed(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	message := framed(exportRequest(callSpans(1, 10)...))
	p.headers(1, false)
	p.framer.WriteData(1, true, append(message, message...))
	p.expect(1, "3")
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestACallWhoseSenderLeavesIsCutOff(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	message := framed(exportRequest(callSpans(1, 10)...))
	p.headers(1, false)
	p.framer.WriteData(1, false, message[:len(message)-1])
	p.conn.Close()
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{CutOff: 1})
}

func TestAStoppingSinkSaysGoodbye(t *testing.T) {
	r, _ := startGRPC(t)
	p := connectGRPC(t, r)
	p.call(1, exportRequest(callSpans(1, 10)...), 1000)
	p.expect(1, "0")
	stopped := make(chan report)
	go func() { stopped <- r.stop() }()
	p.expect(0, "NO_ERROR")
	p.conn.Close()
	<-stopped
}
