package handlers

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/tree"
	"tracetax/sink/internal/wire/lzo"
)

const (
	headerBytes = 40
	frameBytes  = 8
	eventBytes  = 16
	blockBytes  = 64 << 10            // events of a frame
	storedBytes = blockBytes + 16<<10 // of a frame, where compressing makes it longer
	maxMethods  = 1 << 14
	maxName     = 16 << 10
	maxNames    = 1 << 20 // bytes of all names together
	maxBegun    = 10_240  // executions inside one another
	enough      = 1 << 13 // records after which those of the next frames wait
)

// Encodings of a file.
const (
	plain = iota
	compressedByZstd
	compressedByLzo
)

// What an event is told as that has no counterpart.
var (
	endless   = []byte("a begin without its end")
	beginless = []byte("an end without its begin")
)

// magic begins every file.
var magic = []byte("TTH1")

// method is a name, judged once for all events that refer to it.
type method struct {
	name     []byte
	expected bool
}

// begun is an execution that has begun and not ended.
type begun struct {
	time   uint64
	method uint64
	order  uint64
}

// decoder understands the files of a folder: each has the events of one thread in their order.
type decoder struct {
	recordName string
	methods    map[uint64]method
	nameBytes  int

	file     uint64 // from 1
	encoding byte
	opened   bool // its header was read
	broken   bool

	trace uint64
	order uint64
	stack []begun

	zstd  *zstd.Decoder
	block []byte
}

// Entry takes a line of methods.map: a number and a name.
func (d *decoder) Entry(line []byte, _ *ledger.Batch) bool {
	number, name, found := bytes.Cut(line, []byte("="))
	id, err := strconv.ParseUint(string(number), 10, 31)
	if !found || err != nil || id >= maxMethods || len(name) > maxName || d.nameBytes+len(name) > maxNames {
		return false
	}
	d.nameBytes += len(name)
	d.methods[id] = method{bytes.Clone(name), ledger.NamesMethod(string(name), d.recordName)}
	return true
}

// Begin says that another thread's file begins. What has not ended in the last one is told with the next events.
func (d *decoder) Begin() {
	d.file++
	d.opened, d.broken = false, false
	d.trace, d.order = d.file<<40, 0
}

// End says that all files have been read.
func (d *decoder) End(b *ledger.Batch) {
	d.giveUp(b, 0)
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// Consume enters the whole events of data into the batch, moves the rest to the front, and returns its length.
func (d *decoder) Consume(data []byte, b *ledger.Batch) (rest int) {
	used := 0
	if !d.opened && !d.broken {
		if len(data) < headerBytes {
			return len(data)
		}
		d.giveUp(b, 0)
		d.opened, used = true, headerBytes
		if d.encoding = data[len(magic)]; !bytes.HasPrefix(data, magic) || d.encoding > compressedByLzo {
			d.fail(b)
		}
	}
	for !d.broken && len(b.Records) < enough {
		size := d.next(data[used:], b)
		if size == 0 {
			break
		}
		used += size
	}
	if d.broken {
		return 0
	}
	return copy(data, data[used:])
}

// next takes what stands first in data, and returns its size, or 0 where that has not been read whole.
func (d *decoder) next(data []byte, b *ledger.Batch) int {
	if d.encoding == plain {
		whole := len(data) / eventBytes * eventBytes
		d.events(data[:whole], b)
		return whole
	}
	if len(data) < frameBytes {
		return 0
	}
	length, stored := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	if length == 0 || length > blockBytes || length%eventBytes != 0 || stored > storedBytes {
		return d.fail(b)
	}
	if uint64(len(data)) < frameBytes+uint64(stored) {
		return 0
	}
	block, err := d.decoded(data[frameBytes : frameBytes+stored])
	if err != nil || len(block) != int(length) {
		return d.fail(b)
	}
	d.events(block, b)
	return frameBytes + int(stored)
}

// decoded is the content of a frame, until the next one is.
func (d *decoder) decoded(stored []byte) ([]byte, error) {
	if d.block == nil {
		d.block = make([]byte, 0, blockBytes)
	}
	if d.encoding == compressedByLzo {
		return lzo.Decode(d.block, stored)
	}
	if d.zstd == nil {
		made, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(blockBytes))
		if err != nil {
			return nil, err
		}
		d.zstd = made
	}
	return d.zstd.DecodeAll(stored, d.block)
}

// events takes those of the file's thread.
func (d *decoder) events(data []byte, b *ledger.Batch) {
	for ; len(data) >= eventBytes && !d.broken; data = data[eventBytes:] {
		time, id := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		if id&1 == 0 {
			d.begin(time, id>>1, b)
		} else {
			d.end(time, id>>1, b)
		}
	}
}

func (d *decoder) begin(time, of uint64, b *ledger.Batch) {
	if len(d.stack) == maxBegun {
		d.fail(b)
		return
	}
	if len(d.stack) == 0 {
		d.trace++
		d.order = 0
	}
	d.stack = append(d.stack, begun{time, of, d.order})
	d.order++
}

// end enters the execution that an event ends: the innermost one of its method. What has begun inside that one has lost
// its end.
func (d *decoder) end(time, of uint64, b *ledger.Batch) {
	depth := len(d.stack) - 1
	for depth >= 0 && d.stack[depth].method != of {
		depth--
	}
	if depth < 0 {
		b.Unexpected.Add(beginless)
		return
	}
	execution := d.stack[depth]
	d.giveUp(b, depth+1)
	d.stack = d.stack[:depth]
	named, known := d.methods[of]
	switch {
	case !known:
		d.fail(b)
	case !named.expected:
		b.Unexpected.Add(named.name)
	default:
		b.Records = append(b.Records, tree.Record{
			Tree:      tree.Key{Lo: d.trace},
			Node:      tree.Node{ID: execution.order, Up: uint64(depth)},
			Backwards: time < execution.time,
		})
	}
}

// giveUp tells of all executions from this depth on: they have begun and will not end.
func (d *decoder) giveUp(b *ledger.Batch, depth int) {
	if lost := len(d.stack) - depth; lost > 0 {
		b.Unexpected.AddBytes(endless, int64(lost))
		d.stack = d.stack[:depth]
	}
}

// fail gives the rest of the file up.
func (d *decoder) fail(b *ledger.Batch) int {
	if !d.broken {
		b.Malformed++
	}
	d.broken = true
	return 0
}
