package main

import (
	"errors"
	"sync"
)

// agentMessages are what an agent says of itself and asks for: answered, and not looked at.
const agentMessages = "agent"

// pinpoint is what Pinpoint's agents of version 3 say to their collector over gRPC. Its services for agent and
// metadata, for statistics and for spans have a port each there; here one serves them all.
var pinpoint = protocol{
	signals:         []string{metrics, agentMessages},
	connectionBytes: grpcConnectionBytes,
	structure:       func() structure { return &executionChain{} },
	receiver: func(recordName string, l *ledger, m *messages) receiver {
		l.names = newNameTable(func(name []byte) bool { return namesMethod(string(name), recordName) })
		l.names.learn(numberName{number: noMethod}, newBatch(0))
		entered := pinpointCall{walks: &sync.Pool{New: func() any { return newPinpointWalk(l) }}}
		other := func() otherCall { return otherCall{ledger: l, signal: agentMessages} }
		acknowledged := func() grpcCall { return &acknowledgedCall{other()} }
		return newGRPCServer(map[string]grpcMethod{
			"/v1.Agent/RequestAgentInfo":                 acknowledged,
			"/v1.Agent/PingSession":                      func() grpcCall { return &pingCall{other()} },
			"/v1.Metadata/RequestApiMetaData":            func() grpcCall { return &apiNameCall{pinpointCall: entered} },
			"/v1.Metadata/RequestSqlMetaData":            acknowledged,
			"/v1.Metadata/RequestSqlUidMetaData":         acknowledged,
			"/v1.Metadata/RequestStringMetaData":         acknowledged,
			"/v1.Metadata/RequestExceptionMetaData":      acknowledged,
			"/v1.ProfilerCommandService/HandleCommandV2": func() grpcCall { return &commandCall{other()} },
			"/v1.Stat/SendAgentStat":                     func() grpcCall { return &otherCall{ledger: l, signal: metrics} },
			"/v1.Span/SendSpan":                          func() grpcCall { return &spanStreamCall{entered} },
		}, l, m)
	},
}

// pinpointSucceeded is a PResult: success = true.
var pinpointSucceeded = []byte{0x08, 1}

// pinpointCall is a call whose messages are entered into the ledger.
type pinpointCall struct {
	walks *sync.Pool
}

// enter enters a message, or what came of one.
func (c pinpointCall) enter(wire int64, fill func(*pinpointWalk) error) error {
	walk := c.walks.Get().(*pinpointWalk)
	defer c.walks.Put(walk)
	b := walk.batch
	b.arrivalNs, b.requests, b.bytes = monotonicNs(), 1, wire
	err := fill(walk)
	if err != nil {
		b.malformed++
	}
	walk.ledger.apply(b)
	return err
}

// unfinished enters a message that did not come to its end.
func (c pinpointCall) unfinished(reason error, wire int64) {
	_ = c.enter(wire, func(w *pinpointWalk) error {
		w.ledger.fault(w.batch, reason)
		return nil
	})
}

// spanStreamCall brings spans, one a message, for as long as the agent runs. A garbled one is no reason to end it.
type spanStreamCall struct{ pinpointCall }

func (s *spanStreamCall) message(data []byte, wire int64) error {
	_ = s.enter(wire, func(w *pinpointWalk) error { return w.spanMessage(data) })
	return nil
}

func (s *spanStreamCall) end() ([]byte, error) { return nil, nil }

func (s *spanStreamCall) broken(reason error, wire int64) {
	if wire == 0 && errors.Is(reason, errCutOff) {
		// No message was on its way: an agent that ends leaves its stream open.
		return
	}
	s.unfinished(reason, wire)
}

// apiNameCall brings the name that the number of a method stands for.
type apiNameCall struct {
	pinpointCall
	taken bool
}

func (a *apiNameCall) message(data []byte, wire int64) error {
	return a.enter(wire, func(w *pinpointWalk) error {
		if a.taken {
			return errNotUnary
		}
		a.taken = true
		return w.apiName(data)
	})
}

func (a *apiNameCall) end() ([]byte, error) {
	if !a.taken {
		a.unfinished(errShort, 0)
		return nil, errShort
	}
	return pinpointSucceeded, nil
}

func (a *apiNameCall) broken(reason error, wire int64) {
	if !a.taken || wire > 0 {
		a.unfinished(reason, wire)
	}
}

// acknowledgedCall is answered by success, whatever it says.
type acknowledgedCall struct{ otherCall }

func (*acknowledgedCall) end() ([]byte, error) { return pinpointSucceeded, nil }

// pingCall stays open, and answers each ping by another one, which is empty.
type pingCall struct{ otherCall }

func (*pingCall) answer() ([]byte, bool) { return nil, true }

// commandCall stays open for commands to the agent, of which there are none.
type commandCall struct{ otherCall }

func (*commandCall) answer() ([]byte, bool) { return nil, false }
