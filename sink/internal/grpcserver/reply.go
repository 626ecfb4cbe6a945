package grpcserver

import (
	"encoding/binary"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/message"
)

// end answers a call that the client has ended.
func (c *connection) end(s *stream) {
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
func (c *connection) answer(s *stream) error {
	reply, ok := s.answering.Answer()
	if !ok {
		return nil
	}
	s.add(reply)
	c.send(s)
	if len(s.reply) > answerBytes {
		c.reset(s.id, http2.ErrCodeEnhanceYourCalm)
	}
	if c.out.Len() < replyBytes {
		return nil
	}
	return c.flush()
}

// add puts a message to the reply.
func (s *stream) add(message []byte) {
	s.reply = binary.BigEndian.AppendUint32(append(s.reply, 0), uint32(len(message)))
	s.reply = append(s.reply, message...)
}

// send sends what there is of a reply as soon as the windows allow it.
func (c *connection) send(s *stream) {
	size := int64(len(s.reply))
	c.wait(s, size > 0 && size > min(c.window, s.window))
	if s.waits {
		return
	}
	c.window -= size
	s.window -= size
	if !s.begun {
		s.begun = true
		_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: replyHeaders, EndHeaders: true})
	}
	if size > 0 {
		_ = c.framer.WriteData(s.id, false, s.reply)
		s.reply = s.reply[:0]
	}
	if s.answered {
		c.finish(s.id, succeeded, true)
		delete(c.streams, s.id)
	}
}

// wait notes whether the stream waits for a window.
func (c *connection) wait(s *stream, waits bool) {
	if waits && !s.waits {
		c.waiting++
	} else if !waits && s.waits {
		c.waiting--
	}
	s.waits = waits
}

// sendWaiting sends the replies that can be.
func (c *connection) sendWaiting() {
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
func (c *connection) fail(s *stream, err error, ended bool) {
	c.forget(s)
	block := failed(err)
	if s.begun {
		block = failedLate(err)
	}
	c.finish(s.id, block, ended)
}

// finish ends a stream with a block of headers, and asks the client to end it too if it has not.
func (c *connection) finish(id uint32, block []byte, ended bool) {
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true, EndStream: true})
	if !ended {
		_ = c.framer.WriteRSTStream(id, http2.ErrCodeNo)
	}
}

// reset breaks a stream off, a call or not.
func (c *connection) reset(id uint32, code http2.ErrCode) {
	if s := c.streams[id]; s != nil {
		c.leave(s)
	}
	_ = c.framer.WriteRSTStream(id, code)
}

// leave ends a call to which no reply is wanted any more.
func (c *connection) leave(s *stream) {
	c.forget(s)
	if !s.answered {
		s.breakOff(message.ErrCutOff)
	}
}

// forget takes a stream from the list.
func (c *connection) forget(s *stream) {
	c.wait(s, false)
	delete(c.streams, s.id)
}
