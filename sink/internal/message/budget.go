package message

import "sync/atomic"

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
