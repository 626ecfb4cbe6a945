// Package prometheus asks an agent for its metrics, as a Prometheus does.
package prometheus

import (
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// Protocol is what a Prometheus does: nothing is sent to the sink, it asks the agent for its metrics, by the command
// scrape. Its records are what a counter has risen by: a number, without trees.
var Protocol = protocol.Protocol{
	Scraper:   func(l *ledger.Ledger, m *message.Memory) protocol.Scraper { return newScraper(l, m) },
	Structure: func() tree.Structure { return nil },
}
