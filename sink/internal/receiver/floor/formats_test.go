package floor

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/receiver/kieker"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

// TestTheSameExecutionsHaveTheSameLedgerInBothFormats sends whole trees, and some that lack a record or end before they
// start, as the agent writes them: compact, and as Kieker's records.
func TestTheSameExecutionsHaveTheSameLedgerInBothFormats(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var executions []execution
	for number := range uint64(500) {
		tree := chain(1<<40+1+number, testDepth, 1_000+1_000*number)
		switch random.IntN(10) {
		case 0:
			tree = append(tree[:1], tree[2:]...)
		case 1:
			tree[0].start = tree[0].end + 1
		case 2:
			tree[1].method = 1
		case 3:
			tree = append(tree, tree[0])
		}
		executions = append(executions, tree...)
	}
	compact, records := newWriter(methodName, otherName), samples.NewKiekerWriter()
	names := []string{methodName, otherName}
	compact.records(0, executions...)
	for _, e := range executions {
		records.Execution(samples.Execution{
			Trace: int64(e.trace), EOI: int32(e.order), ESS: int32(e.depth), Start: int64(e.start), End: int64(e.end),
			Signature: "public long " + names[e.method],
		})
	}
	own, other := received(t, "floor", Protocol, compact.data), received(t, "kieker-tcp", kieker.TCP, records.Data)
	if own.Records < 1_000 || own.PartialTrees == 0 || own.EndBeforeStart == 0 || own.UnexpectedNames == 0 || own.Duplicates == 0 {
		t.Errorf("the sample lacks something: %+v", own)
	}
	if !reflect.DeepEqual(own, other) {
		t.Errorf("compact %+v\nKieker's %+v", own, other)
	}
}

// received is what a sink has counted of a stream, without its size and when it came.
func received(t *testing.T, name string, spoken protocol.Protocol, data []byte) account.Account {
	t.Helper()
	s := sinktest.Start(t, protocol.Table{name: spoken}, "--depth", "3", "--record-name", samples.Method)
	conn := s.Dial(name)
	sinktest.Write(t, conn, data)
	conn.Close()
	s.Await("all read", func(c sink.Counts) bool { return c.OpenConnections == 0 && c.Bytes == int64(len(data)) })
	found := s.Stop().Protocols[name]
	found.Bytes, found.FirstArrivalNs, found.LastArrivalNs, found.ReceiveBufferBytes = 0, 0, 0, 0
	found.Unexpected = nil // Kieker's have a return type
	return found
}
