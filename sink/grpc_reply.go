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
		c.fail(s, err, true)
		return
	}
	s.answered = true
	if s.answering == nil {
		s.add(reply)
	}
	c.send(s)
}

// answer sends back what a call has to say to the message that has just come. A client that asks and does not read is
// left.
func (c *grpcConn) answer(s *grpcStream) error {
	reply, ok := s.answering.answer()
	if !ok {
		return nil
	}
	s.add(reply)
	c.send(s)
	if len(s.reply) > grpcAnswerBytes {
		c.reset(s.id, http2.ErrCodeEnhanceYourCalm)
	}
	if c.out.Len() < grpcReplyBytes {
		return nil
	}
	return c.flush()
}

// add puts a message to the reply.
func (s *grpcStream) add(message []byte) {
	s.reply = binary.BigEndian.AppendUint32(append(s.reply, 0), uint32(len(message)))
	s.reply = append(s.reply, message...)
}

// send sends what there is of a reply as soon as the windows allow it.
func (c *grpcConn) send(s *grpcStream) {
	size := int64(len(s.reply))
	c.wait(s, size > 0 && size > min(c.window, s.window))
	if s.waits {
		return
	}
	c.window -= size
	s.window -= size
	if !s.begun {
		s.begun = true
		_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: grpcHeaders, EndHeaders: true})
	}
	if size > 0 {
		_ = c.framer.WriteData(s.id, false, s.reply)
		s.reply = s.reply[:0]
	}
	if s.answered {
		c.finish(s.id, grpcSucceeded, true)
		delete(c.streams, s.id)
	}
}

// wait notes whether the stream waits for a window.
func (c *grpcConn) wait(s *grpcStream, waits bool) {
	if waits && !s.waits {
		c.waiting++
	} else if !waits && s.waits {
		c.waiting--
	}
	s.waits = waits
}

// sendWaiting sends the replies that can be.
func (c *grpcConn) sendWaiting() {
	if c.waiting == 0 {
		return
	}
	for _, s := range c.streams {
		if s.waits {
			c.send(s)
		}
	}
}

// fail answers a call by an error; ended says whether the client has ended it too.
func (c *grpcConn) fail(s *grpcStream, err error, ended bool) {
	c.forget(s)
	block := grpcFailed(err)
	if s.begun {
		block = grpcFailedLate(err)
	}
	c.finish(s.id, block, ended)
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
	c.forget(s)
	if !s.answered {
		s.breakOff(errCutOff)
	}
}

// forget takes a stream from the list.
func (c *grpcConn) forget(s *grpcStream) {
	c.wait(s, false)
	delete(c.streams, s.id)
}
