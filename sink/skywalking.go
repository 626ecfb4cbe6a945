package main

import (
	"hash/maphash"
	"sync"
)

// Signals of SkyWalking besides metrics and logs.
const (
	agentEvents = "events"     // start and end of the agent
	management  = "management" // who it is, that it lives, and what it shall do
)

// skyWalking is SkyWalking's protocol, version 3, over gRPC. An agent opens a stream for what it has, sends a segment
// per message, and waits for the reply before it opens the next one. A segment is the call tree of one thread.
var skyWalking = protocol{
	signals:         []string{metrics, logs, agentEvents, management},
	connectionBytes: grpcConnectionBytes,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
		walks := &sync.Pool{New: func() any { return newSegmentWalk(recordName, seeds, l) }}
		methods := map[string]grpcMethod{
			"/skywalking.v3.TraceSegmentReportService/collect": func() grpcCall {
				return &segmentsCall{ledger: l, walks: walks}
			},
		}
		for path, signal := range skyWalkingSignals {
			methods[path] = func() grpcCall { return &otherCall{ledger: l, signal: signal} }
		}
		return newGRPCServer(methods, l, m)
	},
}

// skyWalkingSignals are the methods that bring anything but segments: unary calls and clients' streams, all content
// with an empty message as their reply.
var skyWalkingSignals = map[string]string{
	"/skywalking.v3.JVMMetricReportService/collect":                    metrics,
	"/skywalking.v3.MeterReportService/collect":                        metrics,
	"/skywalking.v3.MeterReportService/collectBatch":                   metrics,
	"/skywalking.v3.LogReportService/collect":                          logs,
	"/skywalking.v3.EventService/collect":                              agentEvents,
	"/skywalking.v3.ManagementService/reportInstanceProperties":        management,
	"/skywalking.v3.ManagementService/keepAlive":                       management,
	"/skywalking.v3.ConfigurationDiscoveryService/fetchConfigurations": management,
	"/skywalking.v3.ProfileTask/getProfileTaskCommands":                management,
	"/skywalking.v10.AsyncProfilerTask/getAsyncProfilerTaskCommands":   management,
}

// segmentsCall is a stream of segments. Each is entered when it has come: its sender may leave the stream open.
type segmentsCall struct {
	ledger *ledger
	walks  *sync.Pool
}

func (s *segmentsCall) message(data []byte, wire int64) error {
	return s.enter(wire, func(w *segmentWalk) error {
		w.batch.requests = 1
		err := w.segment(data)
		if err != nil {
			w.batch.malformed++
		}
		return err
	})
}

// end replies with an empty message: there is nothing that the agent should do.
func (s *segmentsCall) end() ([]byte, error) { return nil, nil }

// broken counts the stream once, whether it ended within a message or between two.
func (s *segmentsCall) broken(reason error, wire int64) {
	_ = s.enter(wire, func(w *segmentWalk) error {
		s.ledger.fault(w.batch, reason)
		return reason
	})
}

// enter enters what a message brought into the ledger.
func (s *segmentsCall) enter(wire int64, fill func(*segmentWalk) error) error {
	walk := s.walks.Get().(*segmentWalk)
	defer s.walks.Put(walk)
	walk.batch.arrivalNs = monotonicNs()
	walk.batch.bytes = wire
	err := fill(walk)
	s.ledger.apply(walk.batch)
	return err
}
