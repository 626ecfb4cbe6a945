package grpcserver

import (
	"bytes"
	"encoding/binary"
	"io"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/message"
)

// headBytes is how many bytes go before a message: a flag and its length.
const headBytes = 5

// stream is one call on a connection.
type stream struct {
	id        uint32
	call      Call
	answering AnsweringCall // the call, if its messages are answered one by one; else nil
	messages  *message.Memory
	encoding  string // of messages whose flag says that they are compressed

	head     [headBytes]byte
	headed   int
	arriving message.Message
	left     int64 // bytes of the message that are still to come
	sinceNs  int64 // when the message began; 0 if none has

	consumed uint32 // bytes of data since the stream's window was last extended
	window   int64  // bytes that the client lets us send
	reply    []byte // what is to be sent
	begun    bool   // the headers of the reply have been sent
	waits    bool   // a window is too small for the reply
	answered bool   // there will be no more of it
}

// take reads up to n bytes of the call from r and returns how many. A failure ends the call; an error is r's.
func (s *stream) take(r io.Reader, n int) (taken int, failure, err error) {
	if s.headed < headBytes {
		taken, err = r.Read(s.head[s.headed:min(headBytes, s.headed+n)])
		if err != nil {
			return taken, nil, err
		}
		if s.headed == 0 {
			s.sinceNs = clock.MonotonicNs()
		}
		if s.headed += taken; s.headed < headBytes {
			return taken, nil, nil
		}
		s.left = int64(binary.BigEndian.Uint32(s.head[1:]))
		s.arriving, failure = s.messages.Begin(s.left)
	} else {
		var room []byte
		if room, failure = s.arriving.Room(); failure == nil {
			taken, err = r.Read(room[:min(int64(len(room)), int64(n), s.left)])
			s.arriving.Add(taken)
			s.left -= int64(taken)
		}
	}
	switch {
	case err != nil:
		return taken, nil, err
	case failure != nil:
		s.breakOff(failure)
	case s.left == 0:
		failure = s.deliver()
	}
	return taken, failure, nil
}

// deliver hands the whole message over, and makes room for the next one.
func (s *stream) deliver() error {
	defer s.forget()
	data, wire := s.arriving.Bytes, int64(len(s.arriving.Bytes))
	if s.head[0]&1 == 1 {
		plain, err := s.inflated()
		defer plain.Release()
		if err != nil {
			s.call.Broken(err, wire)
			return err
		}
		data = plain.Bytes
	}
	return s.call.Message(data, wire)
}

func (s *stream) inflated() (message.Message, error) {
	plain, err := message.Inflate(bytes.NewReader(s.arriving.Bytes), s.encoding)
	if err != nil {
		return message.Message{}, err
	}
	return s.messages.Read(plain, -1)
}

// end is told when the client has ended the call.
func (s *stream) end() ([]byte, error) {
	if s.headed > 0 {
		s.breakOff(message.ErrShort)
		return nil, message.ErrShort
	}
	return s.call.End()
}

// breakOff ends the call without a reply.
func (s *stream) breakOff(reason error) {
	s.call.Broken(reason, int64(len(s.arriving.Bytes)))
	s.forget()
}

// forget gives the memory of an unfinished message back.
func (s *stream) forget() {
	s.arriving.Release()
	s.headed, s.left, s.sinceNs = 0, 0, 0
}
