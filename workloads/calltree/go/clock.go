package calltree

import (
	"math"
	"syscall"
	"unsafe"
)

const (
	clockMonotonic = 1
	clockProcess   = 2
	clockThread    = 3
)

// clock reads one of the kernel's clocks, in nanoseconds.
func clock(id uintptr) int64 {
	var now syscall.Timespec
	if _, _, failed := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&now)), 0); failed != 0 {
		panic(failed)
	}
	return now.Nano()
}

// monotonicNs is CLOCK_MONOTONIC of now, which other processes read, too.
func monotonicNs() int64 { return clock(clockMonotonic) }

// offsetNs is what Now lies behind CLOCK_MONOTONIC: the smaller of some tries, for reading takes time.
func offsetNs() int64 {
	least := int64(math.MaxInt64)
	for range 100 {
		before := Now()
		least = min(least, monotonicNs()-before)
	}
	return least
}

const (
	reads      = 200_000
	longestNs  = 1 << 16
	noteworthy = 0.01
	rounded    = 2
)

// measureClock measures the clock twice, once to get warm: the tick, and the mean time of one read, ns.
func measureClock() map[string]float64 {
	readClock()
	differences, readNs := readClock()
	return map[string]float64{"resolution_ns": tick(differences, reads), "read_ns": readNs}
}

func readClock() (differences []int, readNs float64) {
	differences = make([]int, longestNs)
	first := Now()
	previous := first
	for range reads {
		now := Now()
		if difference := now - previous; difference < longestNs {
			differences[difference]++
		}
		previous = now
	}
	return differences, float64(previous-first) / reads
}

// tick is the smallest step between differences that occur, ns.
//
// Two neighbouring values count as one: the conversion from cycles rounds. Three in a row cannot come of that, so the
// clock tells nanoseconds apart. Rare values do not count. A step that does not divide the differences is none.
func tick(differences []int, reads float64) float64 {
	var means []float64
	smallest := math.MaxFloat64
	for value := 0; value < len(differences); value++ {
		first, count, sum := value, 0.0, 0.0
		for ; value < len(differences) && float64(differences[value]) > reads*noteworthy/10; value++ {
			count += float64(differences[value])
			sum += float64(value) * float64(differences[value])
		}
		if count < reads*noteworthy {
			continue
		}
		if value-first > 2 {
			return 1
		}
		mean := sum / count
		if len(means) > 0 {
			smallest = min(smallest, mean-means[len(means)-1])
		}
		means = append(means, mean)
	}
	if smallest == math.MaxFloat64 {
		return 1
	}
	for _, mean := range means {
		if math.Abs(mean-math.Round(mean/smallest)*smallest) > rounded {
			return 1
		}
	}
	return math.Round(smallest)
}
