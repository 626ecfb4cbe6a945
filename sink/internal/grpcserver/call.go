package grpcserver

import (
	"errors"

	"tracetax/sink/internal/ledger"
)

// Method begins a call of one method.
type Method func() Call

// Call takes the messages of a call as they come. An error from it ends the call with that error's status.
type Call interface {
	// Message takes a whole message, whose bytes are valid until it returns; wire is its size as it came.
	Message(data []byte, wire int64) error
	// End is told when the sender has ended the call in order, and gives the reply.
	End() ([]byte, error)
	// Broken is told instead when the call ends otherwise, with the bytes that came of an unfinished message. Reasons:
	// ErrShort, ErrTooLarge, ErrBusy, ErrCutOff, or that a message could not be inflated.
	Broken(reason error, wire int64)
}

// AnsweringCall is a Call in which messages go both ways. What its end gives is not sent.
type AnsweringCall interface {
	Call
	// Answer is asked after each message, and gives what is sent back at once, if anything is.
	Answer() (reply []byte, ok bool)
}

// ErrNotUnary says that a second message came where one is expected.
var ErrNotUnary = errors.New("more than one message in a call that takes one")

// OtherCall brings what is answered and not looked at.
type OtherCall struct {
	Ledger *ledger.Ledger
	Signal string
}

// Message counts the bytes of a message.
func (o *OtherCall) Message(_ []byte, wire int64) error {
	o.Ledger.Other(o.Signal, wire)
	return nil
}

// End replies with an empty message.
func (o *OtherCall) End() ([]byte, error) { return nil, nil }

// Broken counts the bytes of an unfinished message.
func (o *OtherCall) Broken(_ error, wire int64) { o.Ledger.Other(o.Signal, wire) }
