package pinpoint

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

const (
	sendSpan     = "/v1.Span/SendSpan"
	sendStat     = "/v1.Stat/SendAgentStat"
	sendAPIName  = "/v1.Metadata/RequestApiMetaData"
	sendAgent    = "/v1.Agent/RequestAgentInfo"
	pingSession  = "/v1.Agent/PingSession"
	takeCommands = "/v1.ProfilerCommandService/HandleCommandV2"

	testAPI = 7
)

// pinpointEvent is a PSpanEvent as a test states it.
type pinpointEvent struct{ sequence, depth, elapsed, api int32 }

// pinpointSpan is a PSpan, or a PSpanChunk.
type pinpointSpan struct {
	transaction, id uint64
	chunk           bool
	events          []pinpointEvent
}

func appendNumber(b []byte, field protowire.Number, value int32) []byte {
	if value == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(value))
}

func appendBytes(b []byte, field protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), value)
}

func pinpointEventBytes(e pinpointEvent) []byte {
	b := appendNumber(nil, eventSequence, e.sequence)
	b = appendNumber(b, eventDepth, e.depth)
	b = appendNumber(b, eventElapsed, e.elapsed)
	b = appendNumber(b, 5, 7000)
	return appendNumber(b, eventAPI, int32(protowire.EncodeZigZag(int64(e.api))))
}

// pinpointMessage is the PSpanMessage of a span, with the fields that the agent sends beside.
func pinpointMessage(s pinpointSpan) []byte {
	transaction := appendBytes(nil, 1, []byte("tracetax"))
	transaction = protowire.AppendVarint(protowire.AppendTag(transaction, 2, protowire.VarintType), 1_700_000_000_000)
	if s.transaction != 0 {
		transaction = protowire.AppendVarint(protowire.AppendTag(transaction, transactionSequence, protowire.VarintType), s.transaction)
	}
	b := appendNumber(nil, 1, 1)
	b = appendBytes(b, spanTransaction, transaction)
	b = protowire.AppendFixed64(protowire.AppendTag(b, spanNumber, protowire.Fixed64Type), s.id)
	kind, events := messageSpan, spanEvents
	if s.chunk {
		kind, events = messageChunk, chunkEvents
	} else {
		b = protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), 1<<64-1)
		b = protowire.AppendVarint(protowire.AppendTag(b, 5, protowire.VarintType), 1_700_000_000_001)
		b = appendNumber(b, 7, 1)
		b = appendBytes(b, 9, appendBytes(nil, 1, []byte("/demo")))
	}
	for _, e := range s.events {
		b = appendBytes(b, events, pinpointEventBytes(e))
	}
	return appendBytes(nil, kind, b)
}

// pinpointCalls are the messages of one call of the depth: chunks of so many events, the inner ones first, and the span
// with the rest.
func pinpointCalls(transaction uint64, depth, buffer int) [][]byte {
	var messages [][]byte
	for depth > 0 {
		s := pinpointSpan{transaction: transaction, id: ^transaction, chunk: depth > buffer}
		for level := max(0, depth-buffer); level < depth; level++ {
			s.events = append(s.events, pinpointEvent{sequence: int32(level), depth: int32(level) + 1, api: testAPI})
		}
		messages = append(messages, pinpointMessage(s))
		depth -= buffer
	}
	return messages
}

func apiNameMessage(api int32, name string) []byte {
	b := appendNumber(nil, apiNumber, api)
	b = appendBytes(b, apiName, []byte(name))
	return appendNumber(b, 3, 12)
}

// testAPIName is how the agent writes the expected method down.
const testAPIName = samples.Method + "(long threadId, int depth)"

// count counts messages of spans; named are those of names, which come before or after them.
func count(depth int, before [][]byte, spans [][]byte, after [][]byte) account.Account {
	l := ledger.New(tree.NewTable(&tree.ExecutionChain{}, depth, 1000, 8<<20), Protocol.Signals)
	methods := methods(samples.Method, l)
	for _, sent := range []struct {
		method   string
		messages [][]byte
	}{{sendAPIName, before}, {sendSpan, spans}, {sendAPIName, after}} {
		for _, message := range sent.messages {
			// The ledger knows what it thinks of them.
			_ = methods[sent.method]().Message(message, int64(len(message)))
		}
	}
	return l.Close()
}

func start(t *testing.T, arguments ...string) (*sinktest.Running, *grpc.ClientConn) {
	t.Helper()
	r := sinktest.Start(t, protocol.Table{"pinpoint": Protocol}, append([]string{"--protocols", "pinpoint", "--depth", "10", "--record-name", samples.Method}, arguments...)...)
	return r, grpctest.Client(t, r.Ports["pinpoint"])
}

// expectSuccess makes a unary call that must be answered by a PResult of success.
func expectSuccess(t *testing.T, client *grpc.ClientConn, method string, message []byte) {
	t.Helper()
	var reply []byte
	err := client.Invoke(t.Context(), method, message, &reply)
	if err != nil || string(reply) != "\x08\x01" {
		t.Errorf("%s: answered %q, %v", method, reply, err)
	}
}

func named(names ...string) [][]byte {
	var messages [][]byte
	for i, name := range names {
		messages = append(messages, apiNameMessage(testAPI+int32(i), name))
	}
	return messages
}
