// Package bounds divides the memory that the sink may use.
package bounds

import (
	"golang.org/x/sys/unix"

	"tracetax/sink/internal/network"
)

const (
	// LeastMemory is the least that the sink can do with.
	LeastMemory = 16 << 20
	// MaxDepth is the most records that a complete tree may have.
	MaxDepth = 10_000

	maxConnections = 64
	maxMessage     = 64 << 20
	mostSilent     = 4096
)

// Bounds are the shares of the memory that the sink may use. An eighth stays with the program itself: its code, the runtime's own
// accounts, stacks, and what is garbage already. Of the rest, half is for messages in flight, three eighths for trees,
// one eighth for the buffers of connections. What exceeds its share waits, is refused, or evicts, and is counted.
type Bounds struct {
	TreeBytes       int64 // per protocol
	connectionBytes int64 // per protocol
	MessageBytes    int64 // of all protocols together
	MessageLimit    int64 // of one message
	Silent          int   // connections per protocol that are held and have sent nothing
}

// Divide gives each protocol and each use its share.
func Divide(maxMemory int64, protocols int) Bounds {
	shared := maxMemory - maxMemory/8
	messages := shared / 2
	return Bounds{
		TreeBytes:       shared * 3 / 8 / int64(protocols),
		connectionBytes: shared / 8 / int64(protocols),
		MessageBytes:    messages,
		// A growing message is held twice while it is copied.
		MessageLimit: min(maxMessage, messages/4),
		Silent:       silentConnections(protocols),
	}
}

// HeapLimit is how much of the memory the runtime may hold. Its limit knows nothing of the program's code, and is passed for
// a moment where the collector gets too little of a busy machine's cores.
func HeapLimit(maxMemory int64) int64 {
	return maxMemory - maxMemory*3/32
}

// silentConnections is how many connections of a protocol may be held besides those that are served: half of the
// descriptors that the system allows are for all of them together.
func silentConnections(protocols int) int {
	most := uint64(mostSilent)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		most = min(most, limit.Cur/2)
	}
	return max(network.FirstSilent+1, int(most)/protocols)
}

// Connections is how many connections of the given size a protocol may hold open.
func (b Bounds) Connections(size int64) int {
	return int(min(maxConnections, max(1, b.connectionBytes/size)))
}
