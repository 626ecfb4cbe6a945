package handlers

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/klauspost/compress/zstd"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/files"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/tree"
)

const (
	testDepth  = 3
	methodName = samples.Method + "(long,int)"
	otherName  = "demo.Other.method()"
)

// event is one of a thread, as a test states it: an execution of a method begins, or ends.
type event struct {
	method uint64
	ends   bool
}

// chain is calls of the first method, so many executions inside each other.
func chain(calls, depth int) (found []event) {
	for range calls {
		for range depth {
			found = append(found, event{})
		}
		for range depth {
			found = append(found, event{ends: true})
		}
	}
	return found
}

// bytesOf is events as they lie in a file; each is a tick later than the one before.
func bytesOf(events []event) []byte {
	var data []byte
	for at, e := range events {
		id := e.method << 1
		if e.ends {
			id++
		}
		data = binary.LittleEndian.AppendUint64(data, 1000+uint64(at))
		data = binary.LittleEndian.AppendUint64(data, id)
	}
	return data
}

func header(encoding byte) []byte {
	data := append([]byte("TTH1"), encoding, 1, 0, 0)
	return append(data, make([]byte, headerBytes-len(data))...)
}

// frame is compressed events, as they are stored.
func frame(length int, stored []byte) []byte {
	data := binary.LittleEndian.AppendUint32(nil, uint32(length))
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(stored))), stored...)
}

// fileOf is a thread's file in an encoding, with so many events in a frame.
func fileOf(t testing.TB, encoding byte, events []event, inFrame int) []byte {
	t.Helper()
	data := header(encoding)
	if encoding == plain {
		return append(data, bytesOf(events)...)
	}
	writer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := bytesOf(events)
	for len(whole) > 0 {
		size := min(len(whole), inFrame*eventBytes)
		stored := literals(whole[:size])
		if encoding == compressedByZstd {
			stored = writer.EncodeAll(whole[:size], nil)
		}
		data = append(data, frame(size, stored)...)
		whole = whole[size:]
	}
	return data
}

// literals is a block of LZO1X without any match.
func literals(data []byte) []byte {
	block := []byte{0}
	more := len(data) - 3 - 15
	for ; more > 255; more -= 255 {
		block = append(block, 0)
	}
	return append(append(append(block, byte(more)), data...), 0x11, 0, 0)
}

// folder writes files, and the names of the two methods.
func folder(t testing.TB, content ...[]byte) string {
	t.Helper()
	path := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(path, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("methods.map", []byte("0="+methodName+"\n1="+otherName+"\n"))
	for number, data := range content {
		write("channel-"+strconv.Itoa(number)+".events", data)
	}
	return path
}

// count reads a folder as the sink does.
func count(t testing.TB, path string) account.Account {
	t.Helper()
	found, err := files.Open(path, File.Files)
	if err != nil {
		t.Fatal(err)
	}
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, testDepth, 1000, 8<<20), nil)
	if err := files.NewReader(samples.Method, File.Files, l).Read(found, files.Edge{Records: 1 << 40}); err != nil {
		t.Fatal(err)
	}
	return l.Close()
}
