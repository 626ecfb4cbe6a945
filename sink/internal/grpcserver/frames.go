package grpcserver

import (
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/message"
)

const frameHead = 9

// frame takes the next frame.
func (c *connection) frame() error {
	if c.out.Len() >= replyBytes {
		if err := c.flush(); err != nil {
			return err
		}
	}
	head, err := c.in.Peek(frameHead)
	if err != nil {
		return err
	}
	if http2.FrameType(head[3]) == http2.FrameData {
		return c.data(head)
	}
	f, err := c.framer.ReadFrame()
	var broken http2.StreamError
	if errors.As(err, &broken) {
		c.last = max(c.last, broken.StreamID)
		c.reset(broken.StreamID, broken.Code)
		return nil
	}
	if err != nil {
		return err
	}
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		return c.headers(f)
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return c.settings(f)
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			_ = c.framer.WritePing(true, f.Data)
		}
	case *http2.WindowUpdateFrame:
		return c.extend(f.StreamID, int64(f.Increment))
	case *http2.RSTStreamFrame:
		if f.StreamID > c.last {
			return http2.ConnectionError(http2.ErrCodeProtocol)
		}
		if s := c.streams[f.StreamID]; s != nil {
			c.leave(s)
		}
	case *http2.PushPromiseFrame:
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	return nil
}

// data takes a frame of data, whose head is in the buffer. The framer would copy it once more.
func (c *connection) data(head []byte) error {
	size := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	flags := http2.Flags(head[4])
	id := binary.BigEndian.Uint32(head[5:]) &^ (1 << 31)
	// What has been looked at is there.
	_, _ = c.in.Discard(frameHead)
	if size > dataFrameBytes {
		return http2.ErrFrameTooLarge
	}
	if id == 0 || id > c.last {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	s := c.streams[id]
	c.consume(s, uint32(size))
	padding := 0
	if flags.Has(http2.FlagDataPadded) {
		length, err := c.in.ReadByte()
		if err != nil {
			return err
		}
		if padding = int(length); size < 1+padding {
			return http2.ConnectionError(http2.ErrCodeProtocol)
		}
		size -= 1 + padding
	}
	for size > 0 && s != nil && !s.answered {
		taken, failure, err := s.take(c.in, size)
		if err != nil {
			return err
		}
		size -= taken
		switch {
		case failure != nil:
			c.fail(s, failure, false)
			s = nil
		case s.sinceNs > 0:
			c.arm(c.server.messageTime)
		case s.answering != nil:
			// A message has been delivered.
			if err := c.answer(s); err != nil {
				return err
			}
			s = c.streams[id]
		}
	}
	// What is left belongs to a call that has been answered.
	if _, err := c.in.Discard(size + padding); err != nil {
		return err
	}
	if s != nil && flags.Has(http2.FlagDataEndStream) {
		c.end(s)
	}
	return nil
}

// consume extends the windows of connection and stream from time to time by what has been used of them.
func (c *connection) consume(s *stream, size uint32) {
	c.consumed += size
	if c.consumed >= windowReturned {
		_ = c.framer.WriteWindowUpdate(0, c.consumed)
		c.consumed = 0
	}
	if s == nil {
		return
	}
	s.consumed += size
	if s.consumed >= windowReturned {
		_ = c.framer.WriteWindowUpdate(s.id, s.consumed)
		s.consumed = 0
	}
}

// headers begins a call, or ends one by trailers.
func (c *connection) headers(f *http2.MetaHeadersFrame) error {
	if f.StreamID <= c.last {
		// The call may have been answered while its trailers were on their way.
		if s := c.streams[f.StreamID]; s != nil && f.StreamEnded() {
			c.end(s)
		} else if s != nil {
			c.reset(s.id, http2.ErrCodeProtocol)
		}
		return nil
	}
	if f.StreamID%2 == 0 {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	c.last = f.StreamID
	if len(c.streams) >= maxStreams {
		c.reset(f.StreamID, http2.ErrCodeRefusedStream)
		return nil
	}
	s := &stream{id: f.StreamID, messages: c.server.messages, window: c.streamWindow}
	var media string
	for _, field := range f.RegularFields() {
		switch field.Name {
		case "content-type":
			media = field.Value
		case "grpc-encoding":
			s.encoding = field.Value
		}
	}
	method, known := c.server.methods[f.PseudoValue("path")]
	switch {
	case f.Truncated:
		c.finish(s.id, failed(message.ErrTooLarge), f.StreamEnded())
	case f.PseudoValue("method") != "POST" || !strings.HasPrefix(media, "application/grpc"):
		c.finish(s.id, notSpoken, f.StreamEnded())
	case !known:
		c.finish(s.id, failed(errNoMethod), f.StreamEnded())
	default:
		s.call = method()
		s.answering, _ = s.call.(AnsweringCall)
		c.streams[s.id] = s
		if f.StreamEnded() {
			c.end(s)
		}
	}
	return nil
}

// settings takes over what the client says of itself. How large its tables and frames may be matters to nothing that
// is sent here.
func (c *connection) settings(f *http2.SettingsFrame) error {
	err := f.ForeachSetting(func(s http2.Setting) error {
		if err := s.Valid(); err != nil {
			return err
		}
		if s.ID != http2.SettingInitialWindowSize {
			return nil
		}
		more := int64(s.Val) - c.streamWindow
		c.streamWindow += more
		for _, s := range c.streams {
			if s.window += more; s.window > largestWindow {
				return http2.ConnectionError(http2.ErrCodeFlowControl)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_ = c.framer.WriteSettingsAck()
	c.sendWaiting()
	return nil
}

// extend enters that the client lets more be sent, on a stream or, with id 0, on the connection.
func (c *connection) extend(id uint32, more int64) error {
	if id > c.last {
		return http2.ConnectionError(http2.ErrCodeProtocol)
	}
	if id == 0 {
		if c.window += more; c.window > largestWindow {
			return http2.ConnectionError(http2.ErrCodeFlowControl)
		}
	} else if s := c.streams[id]; s != nil {
		if s.window += more; s.window > largestWindow {
			c.reset(id, http2.ErrCodeFlowControl)
		}
	}
	c.sendWaiting()
	return nil
}
