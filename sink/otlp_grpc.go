package main

import (
	"errors"
	"sync"
)

// otlpGRPC is OTLP over gRPC: unary calls of three services.
var otlpGRPC = protocol{
	signals:         otlpSignals,
	connectionBytes: grpcConnectionBytes,
	structure:       func() structure { return &spanChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		walks := &sync.Pool{New: func() any { return newSpanWalk(recordName, l) }}
		other := func(signal string) grpcMethod {
			return func() grpcCall { return &otherCall{ledger: l, signal: signal} }
		}
		return newGRPCServer(map[string]grpcMethod{
			"/opentelemetry.proto.collector.trace.v1.TraceService/Export": func() grpcCall {
				return &spansCall{ledger: l, walks: walks}
			},
			"/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": other(metrics),
			"/opentelemetry.proto.collector.logs.v1.LogsService/Export":       other(logs),
		}, l, m)
	},
}

var errNotUnary = errors.New("more than one message in a call that takes one")

// spansCall is a call that brings spans.
type spansCall struct {
	ledger *ledger
	walks  *sync.Pool
	taken  bool
}

func (s *spansCall) message(data []byte, wire int64) error {
	return s.enter(wire, func(w *spanWalk) error {
		err := errNotUnary
		if !s.taken {
			err = w.request(data)
		}
		s.taken = true
		if err != nil {
			w.batch.malformed++
		}
		return err
	})
}

func (s *spansCall) end() ([]byte, error) {
	if !s.taken {
		s.broken(errShort, 0)
		return nil, errShort
	}
	// An empty ExportTraceServiceResponse: everything was accepted.
	return nil, nil
}

func (s *spansCall) broken(reason error, wire int64) {
	if s.taken && wire == 0 {
		return
	}
	_ = s.enter(wire, func(w *spanWalk) error {
		s.ledger.fault(w.batch, reason)
		return reason
	})
}

// enter enters one request into the ledger.
func (s *spansCall) enter(wire int64, fill func(*spanWalk) error) error {
	walk := s.walks.Get().(*spanWalk)
	defer s.walks.Put(walk)
	walk.batch.arrivalNs = monotonicNs()
	walk.batch.requests = 1
	walk.batch.bytes = wire
	err := fill(walk)
	s.ledger.apply(walk.batch)
	return err
}

// otherCall brings what is answered and not looked at.
type otherCall struct {
	ledger *ledger
	signal string
}

func (o *otherCall) message(_ []byte, wire int64) error {
	o.ledger.other(o.signal, wire)
	return nil
}

func (o *otherCall) end() ([]byte, error) { return nil, nil }

func (o *otherCall) broken(_ error, wire int64) { o.ledger.other(o.signal, wire) }
