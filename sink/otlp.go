package main

// Signals that are carried besides records, or instead of them.
const (
	traces  = "traces"
	metrics = "metrics"
	logs    = "logs"
)

var otlpSignals = []string{metrics, logs}
