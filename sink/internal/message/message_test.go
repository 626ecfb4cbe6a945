package message

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestWhatIsReservedStaysNearWhatHasArrived(t *testing.T) {
	m := NewMemory(64<<20, 1<<30)
	message, err := m.Begin(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for arrived := int64(0); arrived < 64<<20; {
		room, err := message.Room()
		if err != nil {
			t.Fatal(err)
		}
		if held := m.Held(); held > smallestMessage && held > growth*max(arrived, smallestMessage) {
			t.Fatalf("%d bytes are reserved for the %d that have arrived", held, arrived)
		}
		message.Add(len(room))
		arrived += int64(len(room))
	}
	message.Release()
	message.Release()
	if held := m.Held(); held != 0 {
		t.Errorf("%d bytes are still reserved", held)
	}
}

func TestMessagesAreReadToTheirEndOrTheLimit(t *testing.T) {
	const limit = 1 << 20
	data := bytes.Repeat([]byte("0123456789abcdef"), limit/16)
	for _, size := range []int{0, 1, smallestMessage - 1, smallestMessage, smallestMessage + 1, limit} {
		for _, announced := range []int64{-1, 0, int64(size), limit} {
			m := NewMemory(limit, 8*limit)
			message, err := m.Read(bytes.NewReader(data[:size]), announced)
			if err != nil || !bytes.Equal(message.Bytes, data[:size]) {
				t.Errorf("%d bytes, %d announced: %d read, %v", size, announced, len(message.Bytes), err)
			}
			message.Release()
		}
	}
	m := NewMemory(limit, 8*limit)
	for _, announced := range []int64{-1, 5, limit + 1} {
		message, err := m.Read(io.MultiReader(bytes.NewReader(data), bytes.NewReader(data)), announced)
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("beyond the limit, %d announced: %v", announced, err)
		}
		message.Release()
	}
	if held := m.Held(); held != 0 {
		t.Errorf("%d bytes are still reserved", held)
	}
}

func TestAMessageForWhichNoMemoryIsLeftIsRefused(t *testing.T) {
	m := NewMemory(1<<20, 1<<18)
	message, err := m.Read(bytes.NewReader(make([]byte, 1<<20)), -1)
	if !errors.Is(err, ErrBusy) {
		t.Errorf("read with %v", err)
	}
	message.Release()
	if held := m.Held(); held != 0 {
		t.Errorf("%d bytes are still reserved", held)
	}
}
