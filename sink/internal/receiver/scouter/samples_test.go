package scouter

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

const scouterName = samples.Method + "(JI)J"

// scouterWriter writes what Scouter's agent does.
type scouterWriter struct{ data []byte }

func (w *scouterWriter) bytes(b ...byte) *scouterWriter {
	w.data = append(w.data, b...)
	return w
}

func (w *scouterWriter) short(v int) *scouterWriter {
	w.data = binary.BigEndian.AppendUint16(w.data, uint16(v))
	return w
}

func (w *scouterWriter) int32(v int32) *scouterWriter {
	w.data = binary.BigEndian.AppendUint32(w.data, uint32(v))
	return w
}

func (w *scouterWriter) long(v uint64) *scouterWriter {
	w.data = binary.BigEndian.AppendUint64(w.data, v)
	return w
}

// decimal writes a number in as few bytes as it fits into, of 0 to 5 and 8.
func (w *scouterWriter) decimal(values ...int64) *scouterWriter {
	for _, v := range values {
		size := 0
		for _, size = range []int{0, 1, 2, 3, 4, 5, 8} {
			if bits := 8 * size; size == 0 && v == 0 || size == 8 || size > 0 && v >= -1<<(bits-1) && v < 1<<(bits-1) {
				break
			}
		}
		w.bytes(byte(size))
		for at := size - 1; at >= 0; at-- {
			w.bytes(byte(v >> (8 * at)))
		}
	}
	return w
}

// blob writes bytes behind their length.
func (w *scouterWriter) blob(b []byte) *scouterWriter {
	switch {
	case len(b) <= 253:
		w.bytes(byte(len(b)))
	case len(b) <= 65535:
		w.bytes(255).short(len(b))
	default:
		w.bytes(254).int32(int32(len(b)))
	}
	return w.bytes(b...)
}

func (w *scouterWriter) text(s string) *scouterWriter { return w.blob([]byte(s)) }

func scouterHash(name string) int32 { return int32(crc32.ChecksumIEEE([]byte(name))) }

// onePack is a datagram of one pack, packList one of several.
func onePack(pack []byte) []byte { return append([]byte("CAFE"), pack...) }

func packList(packs ...[]byte) []byte {
	w := (&scouterWriter{}).bytes([]byte("CAFN")...).short(len(packs))
	for _, pack := range packs {
		w.bytes(pack...)
	}
	return w.data
}

// inParts are the datagrams of a pack that is larger than one may be.
func inParts(id uint64, pack []byte, size int) [][]byte {
	var datagrams [][]byte
	total := (len(pack) + size - 1) / size
	for number := range total {
		part := pack[number*size : min(len(pack), (number+1)*size)]
		w := (&scouterWriter{}).bytes([]byte("CAFM")...).int32(7).long(id).short(total).short(number).blob(part)
		datagrams = append(datagrams, w.data)
	}
	return datagrams
}

func textPack(category, name string) []byte {
	return (&scouterWriter{}).bytes(packText).text(category).int32(scouterHash(name)).text(name).data
}

func xlogPack(txid uint64, service string) []byte {
	in := &scouterWriter{}
	in.decimal(0, 7, int64(scouterHash(service))).long(txid).long(0).long(0).decimal(1, 0, 0, 0, 0).blob(nil)
	in.decimal(40, 0, 0, 0, 0, 0, 0, 0).text("").decimal(0).bytes(1).decimal(0, 0, 0, 0).bytes(0)
	in.decimal(int64(scouterHash("main"))).text("").text("").decimal(0, 0, 0, 0).text("").text("").text("")
	return (&scouterWriter{}).bytes(packXLog).blob(in.data).data
}

func profilePack(kind byte, txid uint64, steps []byte) []byte {
	w := (&scouterWriter{}).bytes(kind).decimal(0, 7, int64(scouterHash(scouterName))).long(txid).blob(steps)
	if kind == packProfile2 {
		w.long(0).bytes(1, 0, 0)
	}
	return w.data
}

func heartbeatPack() []byte {
	w := (&scouterWriter{}).bytes(packObject).text("java").decimal(7).text("/host/mb").text("127.0.0.1").text("2.0.0")
	w.bytes(1).decimal(1_700_000_000_000).bytes(80).decimal(3)
	w.text("deadTime").bytes(20).decimal(10_000).text("ok").bytes(10, 1)
	return w.text("list").bytes(70).decimal(2).bytes(0).bytes(50).text("x").data
}

func counterPack() []byte {
	return (&scouterWriter{}).bytes(60).decimal(0).text("/host/mb").bytes(1, 80).decimal(0).data
}

// methodStep is an execution; a step's index counts all steps of its transaction, and its parent is -1 for none.
func methodStep(name string, parent, index, elapsed int64) []byte {
	w := (&scouterWriter{}).bytes(stepMethod).decimal(parent, index, 0, 0, int64(scouterHash(name)), elapsed, 0)
	return w.data
}

func threadStep() []byte {
	return (&scouterWriter{}).bytes(9).decimal(-1, 0, 0, 0, int64(scouterHash("[driving thread] main")), -1, 0).data
}

// callSteps are the steps of one call of the depth: first its thread, then the executions, the inner one first.
func callSteps(depth int) []byte {
	steps := threadStep()
	for level := depth; level > 0; level-- {
		parent := int64(level - 1)
		if parent == 0 {
			parent = -1
		}
		steps = append(steps, methodStep(scouterName, parent, int64(level), 0)...)
	}
	return steps
}

// scouterCall are the datagrams of one call.
func scouterCall(kind byte, txid uint64, depth int) [][]byte {
	return [][]byte{onePack(profilePack(kind, txid, callSteps(depth))), onePack(xlogPack(txid, scouterName))}
}

var scouterNames = packList(textPack("service", scouterName), textPack("method", scouterName))

// count counts datagrams without a socket.
func count(t *testing.T, depth int, recordName string, datagrams ...[]byte) account.Account {
	t.Helper()
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, depth, 1000, 8<<20), Protocol.Signals)
	m := message.NewMemory(1<<20, 4<<20)
	s := newReceiver(recordName, l, m)
	for _, datagram := range datagrams {
		copied := append([]byte(nil), datagram...)
		s.walk.datagram(copied)
		// The receiver's buffer is used again for the next one.
		for i := range copied {
			copied[i] = 0xff
		}
	}
	c := l.Close()
	if held := m.Held(); held != 0 {
		t.Errorf("%d bytes are still held", held)
	}
	return c
}

func start(t *testing.T, recordName string) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, protocol.Table{"scouter": Protocol}, "--protocols", "scouter", "--depth", "10", "--record-name", recordName)
}
