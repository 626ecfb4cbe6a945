package ledger

const (
	Metrics = "metrics"
	Logs    = "logs"
)
