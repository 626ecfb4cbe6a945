package main

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func startPinpoint(t *testing.T, arguments ...string) (*running, *grpc.ClientConn) {
	t.Helper()
	r := start(t, append([]string{"--protocols", "pinpoint", "--depth", "10", "--record-name", testMethod}, arguments...)...)
	return r, grpcClient(t, r.ports["pinpoint"])
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

func TestPinpointsSpansAreCountedExactly(t *testing.T) {
	r, client := startPinpoint(t)
	expectSuccess(t, client, sendAgent, []byte("x"))
	expectSuccess(t, client, sendAPIName, apiNameMessage(testAPI, testAPIName))
	stream := openBothWays(t, client, sendSpan)
	for transaction := range uint64(1000) {
		for _, message := range pinpointCalls(transaction, 10, 20) {
			if err := stream.SendMsg(message); err != nil {
				t.Fatal(err)
			}
		}
	}
	stream.CloseSend()
	var reply []byte
	if err := stream.RecvMsg(&reply); err != nil || len(reply) != 0 {
		t.Errorf("the stream ended with %q, %v", reply, err)
	}
	c := r.stop().Protocols["pinpoint"]
	if c.Requests != 1001 {
		t.Errorf("%d requests", c.Requests)
	}
	expectCount(t, c, protocolCount{
		Records: 10_000, CompleteTrees: 1000, OtherBytes: map[string]int64{agentMessages: 1, metrics: 0},
	})
}

func TestAnOpenStreamOfSpansIsCountedAsItComes(t *testing.T) {
	r, client := startPinpoint(t)
	expectSuccess(t, client, sendAPIName, apiNameMessage(testAPI, testAPIName))
	stream := openBothWays(t, client, sendSpan)
	for _, message := range pinpointCalls(1, 10, 20) {
		stream.SendMsg(message)
	}
	r.await("counted", func(c counts) bool { return c.Records == 10 })
	expectCount(t, r.stop().Protocols["pinpoint"], protocolCount{Records: 10, CompleteTrees: 1})
}

func TestPinpointsPingsAreAnsweredAndItsCommandStreamStaysOpen(t *testing.T) {
	r, client := startPinpoint(t)
	commands := openBothWays(t, client, takeCommands)
	commands.SendMsg([]byte("hello"))
	pings := openBothWays(t, client, pingSession)
	for range 3 {
		pings.SendMsg([]byte{})
		var reply []byte
		if err := pings.RecvMsg(&reply); err != nil || len(reply) != 0 {
			t.Errorf("answered %q, %v", reply, err)
		}
	}
	commands.CloseSend()
	var reply []byte
	if err := commands.RecvMsg(&reply); err != io.EOF {
		t.Errorf("a command came: %q, %v", reply, err)
	}
	expectCount(t, r.stop().Protocols["pinpoint"], protocolCount{OtherBytes: map[string]int64{agentMessages: 5, metrics: 0}})
}

func TestBytesOfPinpointsStatisticsAreToldApart(t *testing.T) {
	r, client := startPinpoint(t)
	stream := openBothWays(t, client, sendStat)
	stream.SendMsg(make([]byte, 100))
	stream.SendMsg(make([]byte, 200))
	stream.CloseSend()
	var reply []byte
	if err := stream.RecvMsg(&reply); err != nil {
		t.Error(err)
	}
	expectCount(t, r.stop().Protocols["pinpoint"], protocolCount{OtherBytes: map[string]int64{agentMessages: 0, metrics: 300}})
}

func TestAGarbledSpanIsMalformedAndTheStreamGoesOn(t *testing.T) {
	r, client := startPinpoint(t)
	expectSuccess(t, client, sendAPIName, apiNameMessage(testAPI, testAPIName))
	stream := openBothWays(t, client, sendSpan)
	whole := pinpointCalls(1, 10, 20)[0]
	for _, message := range [][]byte{whole[:len(whole)-1], pinpointCalls(2, 10, 20)[0]} {
		stream.SendMsg(message)
	}
	r.await("counted", func(c counts) bool { return c.Records == 10 })
	expectCount(t, r.stop().Protocols["pinpoint"], protocolCount{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestAGarbledNameIsRefused(t *testing.T) {
	r, client := startPinpoint(t)
	var reply []byte
	for _, message := range []string{"\x12\x05abc", "", "\x08\x07", "\x12\x01a"} {
		if err := client.Invoke(t.Context(), sendAPIName, []byte(message), &reply); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%q: answered %v", message, err)
		}
	}
	expectCount(t, r.stop().Protocols["pinpoint"], protocolCount{Malformed: 4})
}

func TestADeepTreeInChunksIsComplete(t *testing.T) {
	for _, buffer := range []int{1, 7, 20, 64} {
		c := countPinpoint(64, named(testAPIName), pinpointCalls(1, 64, buffer), nil)
		expectCount(t, c, protocolCount{Records: 64, CompleteTrees: 1})
	}
}

func TestAChunkThatIsMissingLeavesItsTreePartial(t *testing.T) {
	chunks := pinpointCalls(1, 64, 20)
	c := countPinpoint(64, named(testAPIName), slices.Delete(chunks, 1, 2), nil)
	expectCount(t, c, protocolCount{Records: 44, PartialTrees: 1, Orphans: 1})
}

func TestAnEventWithoutADepthHasThatOfTheOneBefore(t *testing.T) {
	fork := pinpointMessage(pinpointSpan{id: 1, events: []pinpointEvent{
		{sequence: 0, depth: 1, api: testAPI}, {sequence: 1, depth: 2, api: testAPI}, {sequence: 2, api: testAPI},
	}})
	c := countPinpoint(3, named(testAPIName), [][]byte{fork}, nil)
	expectCount(t, c, protocolCount{Records: 3, PartialTrees: 1})
}

func TestASpanThatComesAgainIsDuplicate(t *testing.T) {
	span := pinpointCalls(1, 10, 20)
	c := countPinpoint(10, named(testAPIName), append(span, span...), nil)
	expectCount(t, c, protocolCount{Records: 10, CompleteTrees: 1, Duplicates: 10})
}

func TestAnEventThatEndsBeforeItBeginsSpoilsItsTree(t *testing.T) {
	span := pinpointMessage(pinpointSpan{id: 1, events: []pinpointEvent{{depth: 1, elapsed: -1, api: testAPI}}})
	c := countPinpoint(1, named(testAPIName), [][]byte{span}, nil)
	expectCount(t, c, protocolCount{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestRecordsWaitForTheirNames(t *testing.T) {
	var spans [][]byte
	for transaction := range uint64(100) {
		spans = append(spans, pinpointCalls(transaction, 10, 20)...)
	}
	c := countPinpoint(10, nil, spans, named(testAPIName))
	expectCount(t, c, protocolCount{Records: 1000, CompleteTrees: 100})
}

func TestRecordsThatHaveWaitedInVainAreUnexpected(t *testing.T) {
	c := countPinpoint(10, named(), pinpointCalls(1, 10, 20), [][]byte{apiNameMessage(testAPI+1, testAPIName)})
	expectCount(t, c, protocolCount{UnexpectedNames: 10, Unexpected: map[string]int64{nameless: 10}})
}

func TestOtherMethodsAreUnexpected(t *testing.T) {
	span := pinpointMessage(pinpointSpan{id: 1, events: []pinpointEvent{
		{sequence: 0, depth: 1, api: testAPI + 1}, {sequence: 1, depth: 1, api: testAPI}, {sequence: 2, depth: 1, api: 0},
	}})
	c := countPinpoint(1, named(testAPIName, "demo.Other.method()"), [][]byte{span}, nil)
	expectCount(t, c, protocolCount{
		Records: 1, CompleteTrees: 1, UnexpectedNames: 2, Unexpected: map[string]int64{"demo.Other.method()": 1, "": 1},
	})
}

func TestTheNewestNameOfANumberHolds(t *testing.T) {
	again := [][]byte{apiNameMessage(testAPI, "demo.Other.method()"), apiNameMessage(testAPI, testAPIName)}
	c := countPinpoint(10, again, pinpointCalls(1, 10, 20), nil)
	expectCount(t, c, protocolCount{Records: 10, CompleteTrees: 1})
}

func TestSpansWithoutIDsAndHugeOnesAreMalformed(t *testing.T) {
	noIDs := appendBytes(nil, messageSpan, appendBytes(nil, spanEvents, pinpointEventBytes(pinpointEvent{depth: 1, api: testAPI})))
	huge := pinpointMessage(pinpointSpan{id: 1, events: make([]pinpointEvent, maxSpanEvents+1)})
	c := countPinpoint(1, named(testAPIName), [][]byte{noIDs, huge}, nil)
	expectCount(t, c, protocolCount{Malformed: 2})
}

func TestNamesAndWhatWaitsForThemAreBounded(t *testing.T) {
	table := newNameTable(func([]byte) bool { return true })
	b := newBatch(0)
	for number := range uint64(maxNameless + 10) {
		b.numbered = append(b.numbered, numbered{number: number})
	}
	table.resolve(b)
	if len(table.waiting) != maxNameless || *b.unexpected[nameless] != 10 {
		t.Errorf("%d records wait, unexpected are %v", len(table.waiting), b.unexpected.plain())
	}
	b.clear()
	for number := range uint64(maxNumbers + 10) {
		b.names = append(b.names, numberName{number: number, name: []byte("x")})
	}
	table.resolve(b)
	if len(table.names) != maxNumbers || b.malformed != 10 || len(b.records) != maxNameless || len(table.waiting) != 0 {
		t.Errorf("%d names, %d malformed, %d records, %d wait", len(table.names), b.malformed, len(b.records), len(table.waiting))
	}

	table = newNameTable(func([]byte) bool { return true })
	b.clear()
	for number := range uint64(maxNumbers) {
		b.names = append(b.names, numberName{number: number, name: fmt.Appendf(nil, "%01000d", number)})
	}
	table.resolve(b)
	if table.bytes > maxNamesBytes || b.malformed != int64(maxNumbers-len(table.names)) || b.malformed == 0 {
		t.Errorf("%d bytes of %d names, %d malformed", table.bytes, len(table.names), b.malformed)
	}
}
