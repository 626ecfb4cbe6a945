package grpcserver

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

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/network"
)

const (
	readBytes = 128 << 10
	// maxStreams is how many calls a connection may have open.
	maxStreams = 16
	// dataFrameBytes is announced as the largest frame. Only data comes in such sizes, and goes into messages directly.
	dataFrameBytes = 1 << 20
	// frameBytes is the largest one of another kind, headerBytes the longest list of headers.
	frameBytes      = 16 << 10
	headerBytes     = 16 << 10
	hpackTableBytes = 4096
	// replyBytes may be waiting to be sent before no more is taken, answerBytes on a stream for its window.
	replyBytes  = 64 << 10
	answerBytes = 4 << 10

	// largestWindow lets a client send without waiting for permission: memory is bounded by what has arrived. It is
	// given back when half of it is used.
	largestWindow  = math.MaxInt32
	windowReturned = 1 << 30
	firstWindow    = 65_535

	// ConnectionBytes is what a connection holds besides its messages.
	ConnectionBytes = readBytes + 2*frameBytes + 2*headerBytes + 2*replyBytes + 2*maxStreams*answerBytes
)

// http1Request is how a request of HTTP/1 begins, which is longer than HTTP/2's preface.
var http1Request = regexp.MustCompile(`^[A-Z]{3,7} [/h]`)

// errHTTP1 says that HTTP/1 came to a port for gRPC.
var errHTTP1 = errors.New("HTTP/1 came to the gRPC port: use otlp-http")

var http1Refusal = fmt.Sprintf(
	"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(errHTTP1.Error()), errHTTP1,
)

// connection is one connection of a client.
type connection struct {
	server *Server
	conn   net.Conn
	in     *bufio.Reader
	framer *http2.Framer // writes into out, which takes everything: its errors mean nothing
	out    bytes.Buffer  // is sent before the next wait for the client

	streams  map[uint32]*stream
	last     uint32 // the last stream that the client has begun
	consumed uint32 // bytes of data since the connection's window was last extended

	window       int64 // bytes that the client lets us send on the connection
	streamWindow int64 // and on a stream when it begins
	waiting      int   // streams whose replies a window is too small for

	greeted bool
	armed   bool // reading has an end, at which it is seen who is late
}

func newConnection(s *Server, conn net.Conn) *connection {
	c := &connection{
		server:       s,
		conn:         conn,
		streams:      map[uint32]*stream{},
		window:       firstWindow,
		streamWindow: firstWindow,
	}
	c.in = bufio.NewReaderSize(c, readBytes)
	c.framer = http2.NewFramer(&c.out, c.in)
	c.framer.SetMaxReadFrameSize(frameBytes)
	c.framer.MaxHeaderListSize = headerBytes
	c.framer.ReadMetaHeaders = hpack.NewDecoder(hpackTableBytes, nil)
	return c
}

// run serves the connection to its end.
func (c *connection) run() {
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
		c.server.Until(c.conn.SetWriteDeadline, time.Now().Add(network.RefusalTime))
		if _, err := io.WriteString(c.conn, http1Refusal); err == nil {
			network.LeaveInOrder(c.conn)
		}
	case errors.As(err, &fault):
		c.goAway(http2.ErrCode(fault))
	case errors.Is(err, http2.ErrFrameTooLarge):
		c.goAway(http2.ErrCodeFrameSize)
	case errors.Is(err, message.ErrCutOff):
		c.goAway(http2.ErrCodeEnhanceYourCalm)
	}
}

// goAway tells the client why its connection ends.
func (c *connection) goAway(code http2.ErrCode) {
	_ = c.framer.WriteGoAway(c.last, code, nil)
	// It may have left.
	_ = c.flush()
}

// greet exchanges what both sides say first.
func (c *connection) greet() error {
	c.arm(network.HeaderTime)
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
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: maxStreams},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: largestWindow},
		http2.Setting{ID: http2.SettingMaxFrameSize, Val: dataFrameBytes},
		http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: headerBytes},
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
func (c *connection) Read(p []byte) (int, error) {
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

func (c *connection) flush() error {
	if c.out.Len() == 0 {
		return nil
	}
	defer c.out.Reset()
	c.server.Until(c.conn.SetWriteDeadline, time.Now().Add(c.server.messageTime))
	_, err := c.conn.Write(c.out.Bytes())
	return err
}

// arm lets reading end after a while, if it has no end yet.
func (c *connection) arm(after time.Duration) {
	if !c.armed {
		c.armed = true
		c.server.Until(c.conn.SetReadDeadline, time.Now().Add(after))
	}
}

// late says, at the end of reading, whether that is the connection's end too: because the sink stops, or because the
// client has not sent in time what it began.
func (c *connection) late() error {
	switch {
	case c.server.Ending():
		return os.ErrDeadlineExceeded
	case !c.greeted:
		return message.ErrCutOff
	}
	c.armed = false
	left := c.server.messageTime
	for _, s := range c.streams {
		if s.sinceNs > 0 {
			left = min(left, c.server.messageTime-time.Duration(clock.MonotonicNs()-s.sinceNs))
			c.armed = true
		}
	}
	if left <= 0 {
		return message.ErrCutOff
	}
	if !c.armed {
		c.server.Until(c.conn.SetReadDeadline, time.Time{})
		return nil
	}
	c.armed = false
	c.arm(left)
	return nil
}
