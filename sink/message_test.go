package main

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestWhatIsReservedStaysNearWhatHasArrived(t *testing.T) {
	m := newMessages(maxMessage, 1<<30)
	message, err := m.begin(maxMessage)
	if err != nil {
		t.Fatal(err)
	}
	for arrived := int64(0); arrived < maxMessage; {
		room, err := message.room()
		if err != nil {
			t.Fatal(err)
		}
		if held := m.budget.used.Load(); held > smallestMessage && held > growth*max(arrived, smallestMessage) {
			t.Fatalf("%d bytes are reserved for the %d that have arrived", held, arrived)
		}
		message.add(len(room))
		arrived += int64(len(room))
	}
	message.release()
	message.release()
	if held := m.budget.used.Load(); held != 0 {
		t.Errorf("%d bytes are still reserved", held)
	}
}

func TestMessagesAreReadToTheirEndOrTheLimit(t *testing.T) {
	const limit = 1 << 20
	data := bytes.Repeat([]byte("0123456789abcdef"), limit/16)
	for _, size := range []int{0, 1, smallestMessage - 1, smallestMessage, smallestMessage + 1, limit} {
		for _, announced := range []int64{-1, 0, int64(size), limit} {
			m := newMessages(limit, 8*limit)
			message, err := m.read(bytes.NewReader(data[:size]), announced)
			if err != nil || !bytes.Equal(message.bytes, data[:size]) {
				t.Errorf("%d bytes, %d announced: %d read, %v", size, announced, len(message.bytes), err)
			}
			message.release()
		}
	}
	m := newMessages(limit, 8*limit)
	for _, announced := range []int64{-1, 5, limit + 1} {
		message, err := m.read(io.MultiReader(bytes.NewReader(data), bytes.NewReader(data)), announced)
		if !errors.Is(err, errTooLarge) {
			t.Errorf("beyond the limit, %d announced: %v", announced, err)
		}
		message.release()
	}
	if held := m.budget.used.Load(); held != 0 {
		t.Errorf("%d bytes are still reserved", held)
	}
}

func TestAMessageForWhichNoMemoryIsLeftIsRefused(t *testing.T) {
	m := newMessages(1<<20, 1<<18)
	message, err := m.read(bytes.NewReader(make([]byte, 1<<20)), -1)
	if !errors.Is(err, errBusy) {
		t.Errorf("read with %v", err)
	}
	message.release()
	if held := m.budget.used.Load(); held != 0 {
		t.Errorf("%d bytes are still reserved", held)
	}
}
