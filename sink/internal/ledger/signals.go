package ledger

// Signals that several protocols carry besides records.
const (
	Metrics = "metrics"
	Logs    = "logs"
)
