package elastic

import (
	"fmt"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

const intakePath = "/intake/v2/events"

func start(t *testing.T, arguments ...string) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, protocol.Table{"elastic": Protocol}, append([]string{"--protocols", "elastic", "--depth", "10", "--record-name", testEvent}, arguments...)...)
}

// openIntake begins a request in chunks and returns how to send one.
func openIntake(t *testing.T, r *sinktest.Running) (send func(text string)) {
	t.Helper()
	conn := r.Dial("elastic")
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", intakePath, ndjsonMedia)
	t.Cleanup(func() { conn.Close() })
	return func(text string) {
		if text == "" {
			conn.Close()
			return
		}
		fmt.Fprintf(conn, "%x\r\n%s\r\n", len(text), text)
	}
}

const (
	testEvent    = "MonitoredClass#monitoredMethod"
	metadataLine = `{"metadata":{"service":{"name":"tracetax","agent":{"name":"java","version":"1.55.1"}},"process":{"pid":7}}}` + "\n"
	metricLine   = `{"metricset":{"timestamp":1700000000000000,"samples":{"system.cpu.total.norm.pct":{"value":0.25}}}}` + "\n"
)

// linesOf are the events of spans, those without a parent as transactions.
func linesOf(spans ...samples.Span) string {
	var lines strings.Builder
	for _, s := range spans {
		if s.Name == "" {
			s.Name = testEvent
		}
		if s.Parent == 0 {
			fmt.Fprintf(&lines, `{"transaction":{"timestamp":1700000000000000,"name":%q,"id":"%016x","trace_id":"%s","type":"custom",`+
				`"duration":0.002,"outcome":"success","context":{"service":{"name":"tracetax"}},"span_count":{"dropped":0,"started":9},`+
				`"sample_rate":1.0,"sampled":true}}`+"\n", s.Name, s.ID, samples.HexTrace(s))
			continue
		}
		fmt.Fprintf(&lines, `{"span":{"name":%q,"timestamp":1700000000000000,"duration":0.001,"id":"%016x","transaction_id":"00000000000000aa",`+
			`"trace_id":"%s","parent_id":"%016x","outcome":"success","sample_rate":1.0,"type":"app","context":{"service":{"name":"x"}}}}`+"\n",
			s.Name, s.ID, samples.HexTrace(s), s.Parent)
	}
	return lines.String()
}

// count reads one request in pieces of the given size.
func count(depth, piece int, text []byte) account.Account {
	return countNamed(testEvent, depth, piece, text)
}

func countNamed(recordName string, depth, piece int, text []byte) account.Account {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, depth, 1000, 8<<20), Protocol.Signals)
	in := newIntakes(recordName, l, message.NewMemory(1<<20, 4<<20)).Get().(*intake)
	_ = in.read(&samples.Pieces{Text: text, Size: piece}, "", func() {})
	return l.Close()
}
