// Package monitor keeps Go's monitor thread (sysmon) from waking at every request.
//
// Where nothing is left to run, the monitor goes to sleep. As soon as something runs again it is woken, and looks every
// 20 µs at first. A program that has a little to do a thousand times a second pays for that each time: on a virtual
// machine 30 of the 100 µs of CPU that a request took. While one of Go's processors (a P) is busy, the monitor looks
// less and less often instead, down to every 10 ms.
package monitor

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nap is how long the processor sleeps at once. Each end of a nap costs some microseconds.
var nap = unix.NsecToTimespec(10_000_000)

// Calm lets workers run Go's code side by side, beside a processor that is busy for good: it sleeps, in a system call of
// which Go is not told. What stops the world sends a signal to the sleeping thread, which ends the nap at once.
func Calm(workers int) {
	runtime.GOMAXPROCS(workers + 1)
	go func() {
		for {
			unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&nap)), 0, 0)
			runtime.Gosched() // a place where the world can stop
		}
	}()
}
