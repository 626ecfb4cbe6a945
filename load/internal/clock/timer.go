package clock

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// mostLeadNs bounds how long before its moment a sleep ends. A core that has gone to rest takes some 50 µs to wake in a
	// virtual machine.
	mostLeadNs = 60_000
	// leadStepNs is by how much one wake-up moves the lead.
	leadStepNs = 1_000
)

// Timer sleeps until a moment of CLOCK_MONOTONIC, by a timerfd that Go's poller waits for. It wakes sooner after its
// moment than time.Sleep, for which the poller counts in milliseconds. It leaves its core to the program under test,
// which spinning would not. One goroutine uses it at a time.
//
// A sleeper wakes late, by what the kernel and the machine need. The timer learns how late as a rule (the median), goes
// off so much before the moment, and spins the few microseconds that may be left.
type Timer struct {
	descriptor  int
	file        *os.File
	expirations [8]byte
	leadNs      int64
}

// NewTimer asks the kernel for a timer.
func NewTimer() (*Timer, error) {
	descriptor, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("the kernel gives no timer: %w", err)
	}
	return &Timer{descriptor: descriptor, file: os.NewFile(uintptr(descriptor), "timerfd")}, nil
}

// Until sleeps until the clock shows atNs or later, and returns what it shows. It never returns before, unless
// interrupted, with an error.
func (t *Timer) Until(atNs int64) (int64, error) {
	now := NowNs()
	for alarmNs := atNs - t.leadNs; now < alarmNs; now = NowNs() {
		moment := unix.ItimerSpec{Value: unix.NsecToTimespec(alarmNs)}
		if err := unix.TimerfdSettime(t.descriptor, unix.TFD_TIMER_ABSTIME, &moment, nil); err != nil {
			return now, fmt.Errorf("the kernel's timer cannot be set: %w", err)
		}
		if _, err := t.file.Read(t.expirations[:]); err != nil {
			return now, err
		}
		t.learn(NowNs() - alarmNs)
	}
	for now < atNs {
		now = NowNs()
	}
	return now, nil
}

// learn moves the lead towards the median of how late the sleeper was.
func (t *Timer) learn(lateNs int64) {
	if lateNs > t.leadNs {
		t.leadNs = min(t.leadNs+leadStepNs, mostLeadNs)
	} else {
		t.leadNs = max(t.leadNs-leadStepNs, 0)
	}
}

// Interrupt ends the sleep, and all later ones, with an error.
func (t *Timer) Interrupt() { t.file.SetReadDeadline(time.Unix(1, 0)) }

// Close gives the timer back.
func (t *Timer) Close() error { return t.file.Close() }
