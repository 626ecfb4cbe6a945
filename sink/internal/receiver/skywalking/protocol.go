// Package skywalking is SkyWalking's protocol, version 3.
package skywalking

import (
	"hash/maphash"
	"sync"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/grpcserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// Signals of SkyWalking besides metrics and logs.
const (
	agentEvents = "events"     // start and end of the agent
	management  = "management" // who it is, that it lives, and what it shall do
)

// Protocol is SkyWalking's protocol, version 3, over gRPC. An agent opens a stream for what it has, sends a segment
// per message, and waits for the reply before it opens the next one. A segment is the call tree of one thread.
var Protocol = protocol.Protocol{
	Signals:         []string{ledger.Metrics, ledger.Logs, agentEvents, management},
	ConnectionBytes: grpcserver.ConnectionBytes,
	Structure:       func() tree.Structure { return &tree.SpanChain{} },
	Receiver: func(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
		seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
		walks := &sync.Pool{New: func() any { return newWalk(recordName, seeds, l) }}
		methods := map[string]grpcserver.Method{
			"/skywalking.v3.TraceSegmentReportService/collect": func() grpcserver.Call {
				return &segmentsCall{ledger: l, walks: walks}
			},
		}
		for path, signal := range otherMethods {
			methods[path] = func() grpcserver.Call { return &grpcserver.OtherCall{Ledger: l, Signal: signal} }
		}
		return grpcserver.New(methods, l, m)
	},
}

// otherMethods are the methods that bring anything but segments: unary calls and clients' streams, all content
// with an empty message as their reply.
var otherMethods = map[string]string{
	"/skywalking.v3.JVMMetricReportService/collect":                    ledger.Metrics,
	"/skywalking.v3.MeterReportService/collect":                        ledger.Metrics,
	"/skywalking.v3.MeterReportService/collectBatch":                   ledger.Metrics,
	"/skywalking.v3.LogReportService/collect":                          ledger.Logs,
	"/skywalking.v3.EventService/collect":                              agentEvents,
	"/skywalking.v3.ManagementService/reportInstanceProperties":        management,
	"/skywalking.v3.ManagementService/keepAlive":                       management,
	"/skywalking.v3.ConfigurationDiscoveryService/fetchConfigurations": management,
	"/skywalking.v3.ProfileTask/getProfileTaskCommands":                management,
	"/skywalking.v10.AsyncProfilerTask/getAsyncProfilerTaskCommands":   management,
}

// segmentsCall is a stream of segments. Each is entered when it has come: its sender may leave the stream open.
type segmentsCall struct {
	ledger *ledger.Ledger
	walks  *sync.Pool
}

func (s *segmentsCall) Message(data []byte, wire int64) error {
	return s.enter(wire, func(w *walk) error {
		w.batch.Requests = 1
		err := w.segment(data)
		if err != nil {
			w.batch.Malformed++
		}
		return err
	})
}

// End replies with an empty message: there is nothing that the agent should do.
func (s *segmentsCall) End() ([]byte, error) { return nil, nil }

// Broken counts the stream once, whether it ended within a message or between two.
func (s *segmentsCall) Broken(reason error, wire int64) {
	_ = s.enter(wire, func(w *walk) error {
		s.ledger.Fault(w.batch, reason)
		return reason
	})
}

// enter enters what a message brought into the ledger.
func (s *segmentsCall) enter(wire int64, fill func(*walk) error) error {
	walk := s.walks.Get().(*walk)
	defer s.walks.Put(walk)
	walk.batch.ArrivalNs = clock.MonotonicNs()
	walk.batch.Bytes = wire
	err := fill(walk)
	s.ledger.Apply(walk.batch)
	return err
}
