package otlp

import (
	"sync"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/grpcserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
)

// newGRPC answers the unary calls of three services.
func newGRPC(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
	walks := &sync.Pool{New: func() any { return newWalk(recordName, l) }}
	other := func(signal string) grpcserver.Method {
		return func() grpcserver.Call { return &grpcserver.OtherCall{Ledger: l, Signal: signal} }
	}
	return grpcserver.New(map[string]grpcserver.Method{
		"/opentelemetry.proto.collector.trace.v1.TraceService/Export": func() grpcserver.Call {
			return &spansCall{ledger: l, walks: walks}
		},
		"/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": other(ledger.Metrics),
		"/opentelemetry.proto.collector.logs.v1.LogsService/Export":       other(ledger.Logs),
	}, l, m)
}

// spansCall is a call that brings spans.
type spansCall struct {
	ledger *ledger.Ledger
	walks  *sync.Pool
	taken  bool
}

func (s *spansCall) Message(data []byte, wire int64) error {
	return s.enter(wire, func(w *walk) error {
		err := grpcserver.ErrNotUnary
		if !s.taken {
			err = w.request(data)
		}
		s.taken = true
		if err != nil {
			w.batch.Malformed++
		}
		return err
	})
}

func (s *spansCall) End() ([]byte, error) {
	if !s.taken {
		s.Broken(message.ErrShort, 0)
		return nil, message.ErrShort
	}
	// An empty ExportTraceServiceResponse: everything was accepted.
	return nil, nil
}

func (s *spansCall) Broken(reason error, wire int64) {
	if s.taken && wire == 0 {
		return
	}
	_ = s.enter(wire, func(w *walk) error {
		s.ledger.Fault(w.batch, reason)
		return reason
	})
}

// enter enters one request into the ledger.
func (s *spansCall) enter(wire int64, fill func(*walk) error) error {
	walk := s.walks.Get().(*walk)
	defer s.walks.Put(walk)
	walk.batch.ArrivalNs = clock.MonotonicNs()
	walk.batch.Requests = 1
	walk.batch.Bytes = wire
	err := fill(walk)
	s.ledger.Apply(walk.batch)
	return err
}
