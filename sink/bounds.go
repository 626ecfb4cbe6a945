package main

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	minMaxMemory   = 16 << 20
	maxDepth       = 10_000
	maxConnections = 64
	maxMessage     = 64 << 20
	mostSilent     = 4096
)

// bounds divides the memory that the sink may use. An eighth stays with the program itself: its code, the runtime's own
// accounts, stacks, and what is garbage already. Of the rest, half is for messages in flight, three eighths for trees,
// one eighth for the buffers of connections. What exceeds its share waits, is refused, or evicts, and is counted.
type bounds struct {
	treeBytes       int64 // per protocol
	connectionBytes int64 // per protocol
	messageBytes    int64 // of all protocols together
	messageLimit    int64 // of one message
	silent          int   // connections per protocol that are held and have sent nothing
}

func divide(maxMemory int64, protocols int) bounds {
	shared := maxMemory - maxMemory/8
	messages := shared / 2
	return bounds{
		treeBytes:       shared * 3 / 8 / int64(protocols),
		connectionBytes: shared / 8 / int64(protocols),
		messageBytes:    messages,
		// A growing message is held twice while it is copied.
		messageLimit: min(maxMessage, messages/4),
		silent:       silentConnections(protocols),
	}
}

// heapLimit is how much of the memory the runtime may hold, whose limit knows nothing of the program's code.
func heapLimit(maxMemory int64) int64 {
	return maxMemory - maxMemory/16
}

// silentConnections is how many connections of a protocol may be held besides those that are served: half of the
// descriptors that the system allows are for all of them together.
func silentConnections(protocols int) int {
	most := uint64(mostSilent)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		most = min(most, limit.Cur/2)
	}
	return max(firstSilent+1, int(most)/protocols)
}

// connections is how many connections of the given size a protocol may hold open.
func (b bounds) connections(size int64) int {
	return int(min(maxConnections, max(1, b.connectionBytes/size)))
}

// budget hands out bytes up to a limit that all users share.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take reserves n bytes and reports whether they were left.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) <= b.limit {
		return true
	}
	b.used.Add(-n)
	return false
}

func (b *budget) give(n int64) {
	b.used.Add(-n)
}
