package message

import "errors"

// Why a message was not read to its end.
var (
	// ErrShort says that a call ended in order before the message that it announced: it is malformed, not cut off.
	ErrShort = errors.New("the message is shorter than announced")
	// ErrCutOff says that the sender left, or took too long, before its call had ended.
	ErrCutOff = errors.New("the call was cut off")
	// ErrTooLarge says that a message is larger than one may be.
	ErrTooLarge = errors.New("message is larger than the limit")
	// ErrBusy says that there is no memory left for a message.
	ErrBusy = errors.New("too many bytes of messages are held already")
)
