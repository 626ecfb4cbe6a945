package samples

import (
	"testing"

	"tracetax/sink/internal/clock"
)

// CPUTime adds up the CPU time of the counted parts.
type CPUTime struct{ sum, before int64 }

// Begin is before a part that counts.
func (c *CPUTime) Begin() { c.before = clock.CPUNs() }

// End is after it.
func (c *CPUTime) End() { c.sum += clock.CPUNs() - c.before }

// Report tells the CPU time per record.
func (c *CPUTime) Report(b *testing.B, records int) {
	b.ReportMetric(float64(c.sum)/float64(records), "cpu-ns/op")
}
