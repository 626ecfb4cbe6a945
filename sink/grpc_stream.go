package main

import (
	"bytes"
	"encoding/binary"
	"io"
)

// grpcHead is how many bytes go before a message: a flag and its length.
const grpcHead = 5

// grpcStream is one call on a connection.
type grpcStream struct {
	id        uint32
	call      grpcCall
	answering answeringCall // the call, if its messages are answered one by one; else nil
	messages  *messages
	encoding  string // of messages whose flag says that they are compressed

	head     [grpcHead]byte
	headed   int
	arriving message
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
func (s *grpcStream) take(r io.Reader, n int) (taken int, failure, err error) {
	if s.headed < grpcHead {
		taken, err = r.Read(s.head[s.headed:min(grpcHead, s.headed+n)])
		if err != nil {
			return taken, nil, err
		}
		if s.headed == 0 {
			s.sinceNs = monotonicNs()
		}
		if s.headed += taken; s.headed < grpcHead {
			return taken, nil, nil
		}
		s.left = int64(binary.BigEndian.Uint32(s.head[1:]))
		s.arriving, failure = s.messages.begin(s.left)
	} else {
		var room []byte
		if room, failure = s.arriving.room(); failure == nil {
			taken, err = r.Read(room[:min(int64(len(room)), int64(n), s.left)])
			s.arriving.add(taken)
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
func (s *grpcStream) deliver() error {
	defer s.forget()
	data, wire := s.arriving.bytes, int64(len(s.arriving.bytes))
	if s.head[0]&1 == 1 {
		plain, err := s.inflated()
		defer plain.release()
		if err != nil {
			s.call.broken(err, wire)
			return err
		}
		data = plain.bytes
	}
	return s.call.message(data, wire)
}

func (s *grpcStream) inflated() (message, error) {
	plain, err := inflate(bytes.NewReader(s.arriving.bytes), s.encoding)
	if err != nil {
		return message{}, err
	}
	return s.messages.read(plain, -1)
}

// end is told when the client has ended the call.
func (s *grpcStream) end() ([]byte, error) {
	if s.headed > 0 {
		s.breakOff(errShort)
		return nil, errShort
	}
	return s.call.end()
}

// breakOff ends the call without a reply.
func (s *grpcStream) breakOff(reason error) {
	s.call.broken(reason, int64(len(s.arriving.bytes)))
	s.forget()
}

// forget gives the memory of an unfinished message back.
func (s *grpcStream) forget() {
	s.arriving.release()
	s.headed, s.left, s.sinceNs = 0, 0, 0
}
