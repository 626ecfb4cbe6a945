package clock

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// MostLead is what a timer may go off early at most. A core that has gone to rest takes some 50 µs to wake in a virtual
	// machine.
	MostLead = 60 * time.Microsecond
	// firstStepNs is by how much the first wake-ups move the lead, until one was earlier than usual; leadStepNs later.
	firstStepNs = 16_000
	leadStepNs  = 1_000
)

// Timer sleeps until a moment of CLOCK_MONOTONIC, by a timerfd that Go's poller waits for. It wakes sooner after its
// moment than time.Sleep, for which the poller counts in milliseconds. It leaves its core to the program under test,
// which spinning would not. One goroutine uses it at a time.
//
// A sleeper wakes late, by what the kernel and the machine need. A timer may learn how late as a rule (the median). It
// goes off so much before the moment, and spins the microseconds that may be left.
type Timer struct {
	descriptor  int
	file        *os.File
	expirations [8]byte
	mostLeadNs  int64
	leadNs      int64
	stepNs      int64
}

// NewTimer asks the kernel for a timer, which goes off early by mostLead at most.
func NewTimer(mostLead time.Duration) (*Timer, error) {
	descriptor, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("the kernel gives no timer: %w", err)
	}
	file := os.NewFile(uintptr(descriptor), "timerfd")
	return &Timer{descriptor: descriptor, file: file, mostLeadNs: mostLead.Nanoseconds(), stepNs: firstStepNs}, nil
}

// Until sleeps until the clock shows atNs or later, and returns what it shows. It never returns before, unless
// interrupted, with an error. It sleeps for any moment that is not yet there: others may run meanwhile.
func (t *Timer) Until(atNs int64) (int64, error) {
	now, alarmNs := NowNs(), atNs-t.leadNs
	if now >= alarmNs {
		alarmNs = atNs // too near to go off early: only to spin would keep others from running
	}
	for now < alarmNs {
		moment := unix.ItimerSpec{Value: unix.NsecToTimespec(alarmNs)}
		if err := unix.TimerfdSettime(t.descriptor, unix.TFD_TIMER_ABSTIME, &moment, nil); err != nil {
			return now, fmt.Errorf("the kernel's timer cannot be set: %w", err)
		}
		if _, err := t.file.Read(t.expirations[:]); err != nil {
			return now, err
		}
		now = NowNs()
		t.learn(now - alarmNs)
	}
	for now < atNs {
		now = NowNs()
	}
	return now, nil
}

// learn moves the lead towards the median of how late the sleeper was.
func (t *Timer) learn(lateNs int64) {
	if lateNs > t.leadNs {
		t.leadNs = min(t.leadNs+t.stepNs, t.mostLeadNs)
		return
	}
	t.leadNs = max(t.leadNs-t.stepNs, 0)
	t.stepNs = max(t.stepNs/2, leadStepNs)
}

// Interrupt ends the sleep, and all later ones, with an error.
func (t *Timer) Interrupt() { t.file.SetReadDeadline(time.Unix(1, 0)) }

// Close gives the timer back.
func (t *Timer) Close() error { return t.file.Close() }
