package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"regexp"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	grpcReadBytes = 128 << 10
	// grpcStreams is how many calls a connection may have open.
	grpcStreams = 16
	// grpcDataFrame is announced as the largest frame. Only data comes in such sizes, and goes into messages directly.
	grpcDataFrame = 1 << 20
	// grpcFrame is the largest one of another kind, grpcHeaderBytes the longest list of headers.
	grpcFrame       = 16 << 10
	grpcHeaderBytes = 16 << 10
	hpackTableBytes = 4096
	// grpcReplyBytes may be waiting to be sent before no more is taken, grpcAnswerBytes on a stream for its window.
	grpcReplyBytes  = 64 << 10
	grpcAnswerBytes = 4 << 10

	// largestWindow lets a client send without waiting for permission: memory is bounded by what has arrived. It is
	// given back when half of it is used.
	largestWindow  = math.MaxInt32
	windowReturned = 1 << 30
	firstWindow    = 65_535

	// grpcConnectionBytes is what a connection holds besides its messages.
	grpcConnectionBytes = grpcReadBytes + 2*grpcFrame + 2*grpcHeaderBytes + 2*grpcReplyBytes + 2*grpcStreams*grpcAnswerBytes
)

// http1Request is how a request of HTTP/1 begins, which is longer than HTTP/2's preface.
var http1Request = regexp.MustCompile(`^[A-Z]{3,7} [/h]`)

// errHTTP1 says that HTTP/1 came to a port for gRPC.
var errHTTP1 = errors.New("HTTP/1 came to the gRPC port: use otlp-http")

var http1Refusal = fmt.Sprintf(
	"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(errHTTP1.Error()), errHTTP1,
)

// grpcConn is one connection of a client.
type grpcConn struct {
	server *grpcServer
	conn   net.Conn
	in     *bufio.Reader
	framer *http2.Framer // writes into out, which takes everything: its errors mean nothing
	out    bytes.Buffer  // is sent before the next wait for the client

	streams  map[uint32]*grpcStream
	last     uint32 // the last stream that the client has begun
	consumed uint32 // bytes of data since the connection's window was last extended

	window       int64 // bytes that the client lets us send on the connection
	streamWindow int64 // and on a stream when it begins
	waiting      int   // streams whose replies a window is too small for

	greeted bool
	armed   bool // reading has an end, at which it is seen who is late
}

func newGRPCConn(s *grpcServer, conn net.Conn) *grpcConn {
	c := &grpcConn{
		server:       s,
		conn:         conn,
		streams:      map[uint32]*grpcStream{},
		window:       firstWindow,
		streamWindow: firstWindow,
	}
	c.in = bufio.NewReaderSize(c, grpcReadBytes)
	c.framer = http2.NewFramer(&c.out, c.in)
	c.framer.SetMaxReadFrameSize(grpcFrame)
	c.framer.MaxHeaderListSize = grpcHeaderBytes
	c.framer.ReadMetaHeaders = hpack.NewDecoder(hpackTableBytes, nil)
	return c
}

// run serves the connection to its end.
func (c *grpcConn) run() {
	err := c.greet()
	for err == nil {
		err = c.frame()
	}
	for _, s := range c.streams {
		c.leave(s)
	}
	var fault http2.ConnectionError
	switch {
	case errors.Is(err, errHTTP1):
		c.server.mistaken()
		c.server.until(c.conn.SetWriteDeadline, time.Now().Add(refusalTime))
		if _, err := io.WriteString(c.conn, http1Refusal); err == nil {
			leaveInOrder(c.conn)
		}
	case errors.As(err, &fault):
		c.goAway(http2.ErrCode(fault))
	case errors.Is(err, http2.ErrFrameTooLarge):
		c.goAway(http2.ErrCodeFrameSize)
	case errors.Is(err, errCutOff):
		c.goAway(http2.ErrCodeEnhanceYourCalm)
	}
}

// goAway tells the client why its connection ends.
func (c *grpcConn) goAway(code http2.ErrCode) {
	_ = c.framer.WriteGoAway(c.last, code, nil)
	// It may have left.
	_ = c.flush()
}

// greet exchanges what both sides say first.
func (c *grpcConn) greet() error {
	c.arm(headerTime)
	var preface [len(http2.ClientPreface)]byte
	if _, err := io.ReadFull(c.in, preface[:]); err != nil {
		return err
	}
	if http1Request.Match(preface[:]) {
		return errHTTP1
	}
	if string(preface[:]) != http2.ClientPreface {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	_ = c.framer.WriteSettings(
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: grpcStreams},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: largestWindow},
		http2.Setting{ID: http2.SettingMaxFrameSize, Val: grpcDataFrame},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: grpcHeaderBytes},
	)
	_ = c.framer.WriteWindowUpdate(0, largestWindow-firstWindow)
	first, err := c.framer.ReadFrame()
	if err != nil {
		return err
	}
	settings, ok := first.(*http2.SettingsFrame)
	if !ok || settings.IsAck() {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	c.greeted = true
	return c.settings(settings)
}

// Read receives from the client. Before, all that is to be sent is sent.
func (c *grpcConn) Read(p []byte) (int, error) {
	if err := c.flush(); err != nil {
		return 0, err
	}
	for {
		n, err := c.conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if err := c.late(); err != nil {
			return 0, err
		}
	}
}

func (c *grpcConn) flush() error {
	if c.out.Len() == 0 {
		return nil
	}
	defer c.out.Reset()
	c.server.until(c.conn.SetWriteDeadline, time.Now().Add(c.server.messageTime))
	_, err := c.conn.Write(c.out.Bytes())
	return err
}

// arm lets reading end after a while, if it has no end yet.
func (c *grpcConn) arm(after time.Duration) {
	if !c.armed {
		c.armed = true
		c.server.until(c.conn.SetReadDeadline, time.Now().Add(after))
	}
}

// late says, at the end of reading, whether that is the connection's end too: because the sink stops, or because the
// client has not sent in time what it began.
func (c *grpcConn) late() error {
	switch {
	case c.server.ending():
		return os.ErrDeadlineExceeded
	case !c.greeted:
		return errCutOff
	}
	c.armed = false
	left := c.server.messageTime
	for _, s := range c.streams {
		if s.sinceNs > 0 {
			left = min(left, c.server.messageTime-time.Duration(monotonicNs()-s.sinceNs))
			c.armed = true
		}
	}
	if left <= 0 {
		return errCutOff
	}
	if !c.armed {
		c.server.until(c.conn.SetReadDeadline, time.Time{})
		return nil
	}
	c.armed = false
	c.arm(left)
	return nil
}
