package clock

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTheClockIsTheKernels(t *testing.T) {
	for range 1000 {
		before := read(unix.CLOCK_MONOTONIC)
		now := NowNs()
		after := read(unix.CLOCK_MONOTONIC)
		const tolerance = 1000 // ns: what the smallest of 100 tries may still be off
		if now < before-tolerance || now > after+tolerance {
			t.Fatalf("%d is not between %d and %d", now, before, after)
		}
	}
}

func TestATimerNeverWakesBeforeItsMoment(t *testing.T) {
	timer := newTimer(t)
	for _, ahead := range []int64{-1_000_000, 0, 1, 50_000, 3_000_000} {
		at := NowNs() + ahead
		shown, err := timer.Until(at)
		if err != nil || shown < at || NowNs() < shown {
			t.Errorf("%d ns ahead: shows %d, wanted %d, %v", ahead, shown, at, err)
		}
	}
}

func TestAnInterruptEndsTheSleep(t *testing.T) {
	timer := newTimer(t)
	began := time.Now()
	time.AfterFunc(20*time.Millisecond, timer.Interrupt)
	_, err := timer.Until(NowNs() + int64(time.Minute))
	if !os.IsTimeout(err) || time.Since(began) > 30*time.Second {
		t.Errorf("slept %s, %v", time.Since(began), err)
	}
	if _, err := timer.Until(NowNs() + int64(time.Minute)); !os.IsTimeout(err) {
		t.Errorf("a later sleep: %v", err)
	}
}

func TestCPUOfTheProcessGrowsWithWork(t *testing.T) {
	before, until := ProcessCPUNs(), time.Now().Add(20*time.Millisecond)
	for time.Now().Before(until) {
	}
	if used := ProcessCPUNs() - before; used <= 0 {
		t.Errorf("used %d ns", used)
	}
	if ResolutionNs() < 1 || ReadNs() <= 0 {
		t.Errorf("resolution %g, a reading %g", ResolutionNs(), ReadNs())
	}
}

func newTimer(t *testing.T) *Timer {
	t.Helper()
	timer, err := NewTimer(MostLead)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { timer.Close() })
	return timer
}

func TestATimerGoesOffAsMuchEarlierAsItWakesLate(t *testing.T) {
	timer := newTimer(t)
	for range 100 {
		timer.learn(25_000)
	}
	if timer.leadNs < 23_000 || timer.leadNs > 27_000 {
		t.Errorf("always 25 µs late: %d ns earlier", timer.leadNs)
	}
	for range 1000 {
		timer.learn(5_000_000)
	}
	if timer.leadNs != MostLead.Nanoseconds() {
		t.Errorf("always 5 ms late: %d ns earlier", timer.leadNs)
	}
	for range 1000 {
		timer.learn(0)
	}
	if timer.leadNs < 0 || timer.leadNs > leadStepNs {
		t.Errorf("never late: %d ns earlier", timer.leadNs)
	}
	timer.mostLeadNs = 0
	if timer.learn(50_000); timer.leadNs != 0 {
		t.Errorf("without a lead: %d ns earlier", timer.leadNs)
	}
}

func TestOthersRunBeforeAMomentThatIsNearerThanTheLead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	timer := newTimer(t)
	timer.mostLeadNs, timer.leadNs = int64(time.Minute), int64(time.Minute)
	ran := make(chan struct{}, 1)
	go func() { ran <- struct{}{} }()
	if _, err := timer.Until(NowNs() + int64(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if len(ran) == 0 {
		t.Error("it only spun")
	}
}
