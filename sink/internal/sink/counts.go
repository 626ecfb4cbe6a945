package sink

import "tracetax/sink/internal/clock"

// Counts is the cheap view for polling.
type Counts struct {
	Phase           string `json:"phase"`
	Records         int64  `json:"records"`
	Bytes           int64  `json:"bytes"`
	LastArrivalNs   int64  `json:"last_arrival_ns"`
	OpenConnections int    `json:"open_connections"`
	Malformed       int64  `json:"malformed"`
	CPUNs           int64  `json:"cpu_ns"`
	Reading         bool   `json:"reading"`
	ReadBytes       int64  `json:"read_bytes"`
	ReadError       string `json:"read_error,omitempty"`
	Answers         int64  `json:"answers"` // to what the sink asked, in all phases
}

// Counts is what the runner polls.
func (s *Sink) Counts() Counts {
	var sum Counts
	for _, c := range s.channels {
		if c.reader != nil {
			// Before all else: if nothing is being read any more, all that was read is in the rest.
			reading, bytes, failure := c.reader.Progress()
			sum.Reading = sum.Reading || reading
			sum.ReadBytes += bytes
			if failure != nil {
				sum.ReadError = failure.Error()
			}
		}
	}
	s.settle()
	sum.Phase, sum.OpenConnections, sum.CPUNs = s.phase, s.openConnections(), clock.CPUNs()-s.cpuBefore
	for _, c := range s.channels {
		t := c.ledger.Totals()
		sum.Records += t.Records
		sum.Bytes += t.Bytes
		sum.Malformed += t.Malformed
		sum.LastArrivalNs = max(sum.LastArrivalNs, t.LastArrivalNs)
		if c.scraper != nil {
			sum.Answers += c.scraper.Answered()
		}
	}
	return sum
}
