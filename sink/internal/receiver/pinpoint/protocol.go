// Package pinpoint is the protocol of Pinpoint's agents, version 3.
package pinpoint

import (
	"errors"
	"sync"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/grpcserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// agentMessages are what an agent says of itself and asks for: answered, and not looked at.
const agentMessages = "agent"

// Protocol is what Pinpoint's agents of version 3 say to their collector over gRPC. Its services for agent and
// metadata, for statistics and for spans have a port each there; here one serves them all.
var Protocol = protocol.Protocol{
	Signals:         []string{ledger.Metrics, agentMessages},
	ConnectionBytes: grpcserver.ConnectionBytes,
	Structure:       func() tree.Structure { return &tree.ExecutionChain{} },
	Receiver: func(recordName string, l *ledger.Ledger, m *message.Memory) protocol.Receiver {
		return grpcserver.New(methods(recordName, l), l, m)
	},
}

// methods are those of all its services.
func methods(recordName string, l *ledger.Ledger) map[string]grpcserver.Method {
	l.NameBy(func(name []byte) bool { return ledger.NamesMethod(string(name), recordName) }, ledger.Name{Number: noMethod})
	entered := enteringCall{walks: &sync.Pool{New: func() any { return newWalk(l) }}}
	other := func() grpcserver.OtherCall { return grpcserver.OtherCall{Ledger: l, Signal: agentMessages} }
	acknowledged := func() grpcserver.Call { return &acknowledgedCall{other()} }
	return map[string]grpcserver.Method{
		"/v1.Agent/RequestAgentInfo":                 acknowledged,
		"/v1.Agent/PingSession":                      func() grpcserver.Call { return &pingCall{other()} },
		"/v1.Metadata/RequestApiMetaData":            func() grpcserver.Call { return &apiNameCall{enteringCall: entered} },
		"/v1.Metadata/RequestSqlMetaData":            acknowledged,
		"/v1.Metadata/RequestSqlUidMetaData":         acknowledged,
		"/v1.Metadata/RequestStringMetaData":         acknowledged,
		"/v1.Metadata/RequestExceptionMetaData":      acknowledged,
		"/v1.ProfilerCommandService/HandleCommandV2": func() grpcserver.Call { return &commandCall{other()} },
		"/v1.Stat/SendAgentStat":                     func() grpcserver.Call { return &grpcserver.OtherCall{Ledger: l, Signal: ledger.Metrics} },
		"/v1.Span/SendSpan":                          func() grpcserver.Call { return &spanStreamCall{entered} },
	}
}

// succeeded is a PResult: success = true.
var succeeded = []byte{0x08, 1}

// enteringCall is a call whose messages are entered into the ledger.
type enteringCall struct {
	walks *sync.Pool
}

// enter enters a message, or what came of one.
func (c enteringCall) enter(wire int64, fill func(*walk) error) error {
	walk := c.walks.Get().(*walk)
	defer c.walks.Put(walk)
	b := walk.batch
	b.ArrivalNs, b.Requests, b.Bytes = clock.MonotonicNs(), 1, wire
	err := fill(walk)
	if err != nil {
		b.Malformed++
	}
	walk.ledger.Apply(b)
	return err
}

// unfinished enters a message that did not come to its end.
func (c enteringCall) unfinished(reason error, wire int64) {
	_ = c.enter(wire, func(w *walk) error {
		w.ledger.Fault(w.batch, reason)
		return nil
	})
}

// spanStreamCall brings spans, one a message, for as long as the agent runs. A garbled one is no reason to end it.
type spanStreamCall struct{ enteringCall }

func (s *spanStreamCall) Message(data []byte, wire int64) error {
	_ = s.enter(wire, func(w *walk) error { return w.spanMessage(data) })
	return nil
}

func (s *spanStreamCall) End() ([]byte, error) { return nil, nil }

func (s *spanStreamCall) Broken(reason error, wire int64) {
	if wire == 0 && errors.Is(reason, message.ErrCutOff) {
		// No message was on its way: an agent that ends leaves its stream open.
		return
	}
	s.unfinished(reason, wire)
}

// apiNameCall brings the name that the number of a method stands for.
type apiNameCall struct {
	enteringCall
	taken bool
}

func (a *apiNameCall) Message(data []byte, wire int64) error {
	return a.enter(wire, func(w *walk) error {
		if a.taken {
			return grpcserver.ErrNotUnary
		}
		a.taken = true
		return w.apiName(data)
	})
}

func (a *apiNameCall) End() ([]byte, error) {
	if !a.taken {
		a.unfinished(message.ErrShort, 0)
		return nil, message.ErrShort
	}
	return succeeded, nil
}

func (a *apiNameCall) Broken(reason error, wire int64) {
	if !a.taken || wire > 0 {
		a.unfinished(reason, wire)
	}
}

// acknowledgedCall is answered by success, whatever it says.
type acknowledgedCall struct{ grpcserver.OtherCall }

func (*acknowledgedCall) End() ([]byte, error) { return succeeded, nil }

// pingCall stays open, and answers each ping by another one, which is empty.
type pingCall struct{ grpcserver.OtherCall }

func (*pingCall) Answer() ([]byte, bool) { return nil, true }

// commandCall stays open for commands to the agent, of which there are none.
type commandCall struct{ grpcserver.OtherCall }

func (*commandCall) Answer() ([]byte, bool) { return nil, false }
