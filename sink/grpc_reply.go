package main

import (
	"encoding/binary"

	"golang.org/x/net/http2"
)

// end answers a call that the client has ended.
func (c *grpcConn) end(s *grpcStream) {
	if s.answered {
		return
	}
	reply, err := s.end()
	if err != nil {
		c.finish(s.id, grpcFailed(err), true)
		delete(c.streams, s.id)
		return
	}
	s.answered = true
	s.reply = binary.BigEndian.AppendUint32(make([]byte, 1, grpcHead+len(reply)), uint32(len(reply)))
	s.reply = append(s.reply, reply...)
	c.waiting++
	c.send(s)
}

// send sends the reply as soon as the windows allow it.
func (c *grpcConn) send(s *grpcStream) {
	size := int64(len(s.reply))
	if size > min(c.window, s.window) {
		return
	}
	c.window -= size
	c.waiting--
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: grpcHeaders, EndHeaders: true})
	_ = c.framer.WriteData(s.id, false, s.reply)
	c.finish(s.id, grpcSucceeded, true)
	delete(c.streams, s.id)
}

// sendWaiting sends the replies that can be.
func (c *grpcConn) sendWaiting() {
	if c.waiting == 0 {
		return
	}
	for _, s := range c.streams {
		if s.answered {
			c.send(s)
		}
	}
}

// fail answers a call while the client goes on sending.
func (c *grpcConn) fail(s *grpcStream, err error) {
	delete(c.streams, s.id)
	c.finish(s.id, grpcFailed(err), false)
}

// finish ends a stream with a block of headers, and asks the client to end it too if it has not.
func (c *grpcConn) finish(id uint32, block []byte, ended bool) {
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true})
	if !ended {
		_ = c.framer.WriteRSTStream(id, http2.ErrCodeNo)
	}
}

// reset breaks a stream off, a call or not.
func (c *grpcConn) reset(id uint32, code http2.ErrCode) {
	if s := c.streams[id]; s != nil {
		c.leave(s)
	}
	_ = c.framer.WriteRSTStream(id, code)
}

// leave ends a call to which no reply is wanted any more.
func (c *grpcConn) leave(s *grpcStream) {
	delete(c.streams, s.id)
	if s.answered {
		c.waiting--
	} else {
		s.breakOff(errCutOff)
	}
}
