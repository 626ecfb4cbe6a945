package main

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

var errNoMessage = errors.New("no valid protobuf message")

// protoField is one field of a protobuf message: varint or bytes is set, as its kind says. A fixed number of 64 bits is
// a varint here.
type protoField struct {
	number protowire.Number
	kind   protowire.Type
	varint uint64
	bytes  []byte
}

// eachProtoField calls visit with every field of a message, of whatever kind. It ends with the first error.
func eachProtoField(message []byte, visit func(protoField) error) error {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return errNoMessage
		}
		message = message[size:]
		f := protoField{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			f.varint, size = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			f.bytes, size = protowire.ConsumeBytes(message)
		case protowire.Fixed64Type:
			f.varint, size = protowire.ConsumeFixed64(message)
		default:
			size = protowire.ConsumeFieldValue(number, kind, message)
		}
		if size < 0 {
			return errNoMessage
		}
		message = message[size:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}
