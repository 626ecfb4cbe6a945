package main

import (
	"bytes"
	"math"
)

// maxTextLine is the longest line that is understood: a record's strings, and its numbers.
const maxTextLine = 4 * maxStringBytes

// kiekerTextFile is Kieker's text log: a line for each record, "$class;logged;" and the fields of its class, in which
// strings stand as they are. The map holds the names of the classes.
var kiekerTextFile = protocol{
	structure: func() structure { return &executionChain{} },
	files: &fileFormat{
		extension: ".dat",
		mapName:   kiekerMapName,
		decoder: func(recordName string) fileDecoder {
			return &kiekerText{kiekerStream: kiekerStream{recordName: recordName}}
		},
	},
}

// kiekerText understands the lines of one log.
type kiekerText struct {
	kiekerStream // its registry
	lines        lines
	signature    []byte // the last one seen
	expected     bool   // whether it is of the expected method
}

func (k *kiekerText) begin() { k.lines = lines{limit: maxTextLine} }

func (k *kiekerText) consume(data []byte, b *batch) (rest int) {
	return k.lines.consume(data, b, k.line)
}

// line enters one record and reports whether it could be understood.
func (k *kiekerText) line(line []byte, b *batch) bool {
	f := fields{rest: line, good: true}
	head := f.text()
	if len(head) < 2 || head[0] != '$' {
		return false
	}
	class, good := integer(head[1:])
	if !good || class < 0 || class >= int64(len(k.registry)) || k.registry[class].size == 0 {
		return false
	}
	switch k.registry[class].size {
	case executionBytes:
		return k.executionLine(&f, b)
	case metadataBytes:
		// It describes the log and is no record of a method.
	default:
		b.unexpected.add(k.registry[class].text)
	}
	return true
}

// executionLine enters an OperationExecutionRecord: when it was logged, then the fields of the stream in their order.
func (k *kiekerText) executionLine(f *fields, b *batch) bool {
	f.int64()
	signature := f.text()
	f.text() // session
	trace, start, end := f.int64(), f.int64(), f.int64()
	f.text() // host
	eoi, ess := f.int32(), f.int32()
	if !f.good || !f.ended {
		return false
	}
	if k.signature == nil || !bytes.Equal(signature, k.signature) {
		k.signature = append(k.signature[:0:0], signature...)
		k.expected = namesMethod(string(signature), k.recordName)
	}
	if !k.expected {
		b.unexpected.add(signature)
		return true
	}
	b.records = append(b.records, record{
		tree:      treeKey{lo: uint64(trace)},
		node:      node{id: uint64(eoi), up: uint64(ess)},
		backwards: end < start,
	})
	return true
}

// fields takes the fields of a line from its front; good is false from the first one that is not what it should be.
type fields struct {
	rest  []byte
	ended bool // the last field was taken
	good  bool
}

func (f *fields) text() []byte {
	if f.ended {
		f.good = false
		return nil
	}
	at := bytes.IndexByte(f.rest, ';')
	if at < 0 {
		f.ended = true
		return f.rest
	}
	field := f.rest[:at]
	f.rest = f.rest[at+1:]
	return field
}

func (f *fields) int64() int64 {
	value, good := integer(f.text())
	f.good = f.good && good
	return value
}

func (f *fields) int32() int64 {
	value := f.int64()
	f.good = f.good && value >= math.MinInt32 && value <= math.MaxInt32
	return value
}

// integer reads a decimal number of 64 bits.
func integer(text []byte) (value int64, good bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 19 {
		return 0, false
	}
	var magnitude uint64
	for _, c := range text {
		digit := uint64(c) - '0'
		if digit > 9 {
			return 0, false
		}
		magnitude = magnitude*10 + digit
	}
	if negative {
		return -int64(magnitude), magnitude <= 1<<63
	}
	return int64(magnitude), magnitude <= math.MaxInt64
}
