// Package clock tells the time by CLOCK_MONOTONIC, the clock that all processes of a trial share, and sleeps by it.
package clock

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

var (
	began   = time.Now()
	beganNs = offsetNs()
)

// NowNs is CLOCK_MONOTONIC in nanoseconds, read without a system call.
func NowNs() int64 { return beganNs + int64(time.Since(began)) }

// offsetNs is what Go's own reading lies behind CLOCK_MONOTONIC: the smallest of some tries, for reading takes time.
func offsetNs() int64 {
	least := int64(math.MaxInt64)
	for range 100 {
		before := int64(time.Since(began))
		least = min(least, read(unix.CLOCK_MONOTONIC)-before)
	}
	return least
}

// ProcessCPUNs is what all threads of this process have used so far, user and system.
func ProcessCPUNs() int64 { return read(unix.CLOCK_PROCESS_CPUTIME_ID) }

// read asks the kernel; it refuses no clock that this package names.
func read(id int32) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		panic(err)
	}
	return now.Nano()
}

// ResolutionNs is the step of CLOCK_MONOTONIC as the kernel tells it.
func ResolutionNs() float64 {
	var step unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC, &step); err != nil {
		panic(err)
	}
	return float64(step.Nano())
}

// ReadNs is the mean time of one reading by NowNs, measured now.
func ReadNs() float64 {
	const reads = 100_000
	first := NowNs()
	last := first
	for range reads {
		last = NowNs()
	}
	return float64(last-first) / reads
}
