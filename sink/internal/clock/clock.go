// Package clock reads the time, and what this process has used.
package clock

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// MonotonicNs reads CLOCK_MONOTONIC, the clock that all processes of a trial share.
func MonotonicNs() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// CPUNs is the CPU time of this process, user and system.
func CPUNs() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// MaxRSSBytes is the most memory that this program has occupied. getrusage would also know what the process
// occupied before it became this program.
func MaxRSSBytes() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kib, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))), 10, 64)
			return kib << 10
		}
	}
	return 0
}
