package pinpoint

import (
	"io"
	"slices"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
)

func TestPinpointsSpansAreCountedExactly(t *testing.T) {
	r, client := start(t)
	expectSuccess(t, client, sendAgent, []byte("x"))
	expectSuccess(t, client, sendAPIName, apiNameMessage(testAPI, testAPIName))
	stream := grpctest.OpenBothWays(t, client, sendSpan)
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
	c := r.Stop().Protocols["pinpoint"]
	if c.Requests != 1001 {
		t.Errorf("%d requests", c.Requests)
	}
	samples.ExpectCount(t, c, account.Account{
		Records: 10_000, CompleteTrees: 1000, OtherBytes: map[string]int64{agentMessages: 1, ledger.Metrics: 0},
	})
}

func TestAnOpenStreamOfSpansIsCountedAsItComes(t *testing.T) {
	r, client := start(t)
	expectSuccess(t, client, sendAPIName, apiNameMessage(testAPI, testAPIName))
	stream := grpctest.OpenBothWays(t, client, sendSpan)
	for _, message := range pinpointCalls(1, 10, 20) {
		stream.SendMsg(message)
	}
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 10 })
	samples.ExpectCount(t, r.Stop().Protocols["pinpoint"], account.Account{Records: 10, CompleteTrees: 1})
}

func TestPinpointsPingsAreAnsweredAndItsCommandStreamStaysOpen(t *testing.T) {
	r, client := start(t)
	commands := grpctest.OpenBothWays(t, client, takeCommands)
	commands.SendMsg([]byte("hello"))
	pings := grpctest.OpenBothWays(t, client, pingSession)
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
	samples.ExpectCount(t, r.Stop().Protocols["pinpoint"], account.Account{OtherBytes: map[string]int64{agentMessages: 5, ledger.Metrics: 0}})
}

func TestBytesOfPinpointsStatisticsAreToldApart(t *testing.T) {
	r, client := start(t)
	stream := grpctest.OpenBothWays(t, client, sendStat)
	stream.SendMsg(make([]byte, 100))
	stream.SendMsg(make([]byte, 200))
	stream.CloseSend()
	var reply []byte
	if err := stream.RecvMsg(&reply); err != nil {
		t.Error(err)
	}
	samples.ExpectCount(t, r.Stop().Protocols["pinpoint"], account.Account{OtherBytes: map[string]int64{agentMessages: 0, ledger.Metrics: 300}})
}

func TestAGarbledSpanIsMalformedAndTheStreamGoesOn(t *testing.T) {
	r, client := start(t)
	expectSuccess(t, client, sendAPIName, apiNameMessage(testAPI, testAPIName))
	stream := grpctest.OpenBothWays(t, client, sendSpan)
	whole := pinpointCalls(1, 10, 20)[0]
	for _, message := range [][]byte{whole[:len(whole)-1], pinpointCalls(2, 10, 20)[0]} {
		stream.SendMsg(message)
	}
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 10 })
	samples.ExpectCount(t, r.Stop().Protocols["pinpoint"], account.Account{Records: 10, CompleteTrees: 1, Malformed: 1})
}

func TestAGarbledNameIsRefused(t *testing.T) {
	r, client := start(t)
	var reply []byte
	for _, message := range []string{"\x12\x05abc", "", "\x08\x07", "\x12\x01a"} {
		if err := client.Invoke(t.Context(), sendAPIName, []byte(message), &reply); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%q: answered %v", message, err)
		}
	}
	samples.ExpectCount(t, r.Stop().Protocols["pinpoint"], account.Account{Malformed: 4})
}

func TestADeepTreeInChunksIsComplete(t *testing.T) {
	for _, buffer := range []int{1, 7, 20, 64} {
		c := count(64, named(testAPIName), pinpointCalls(1, 64, buffer), nil)
		samples.ExpectCount(t, c, account.Account{Records: 64, CompleteTrees: 1})
	}
}

func TestAChunkThatIsMissingLeavesItsTreePartial(t *testing.T) {
	chunks := pinpointCalls(1, 64, 20)
	c := count(64, named(testAPIName), slices.Delete(chunks, 1, 2), nil)
	samples.ExpectCount(t, c, account.Account{Records: 44, PartialTrees: 1, Orphans: 1})
}

func TestAnEventWithoutADepthHasThatOfTheOneBefore(t *testing.T) {
	fork := pinpointMessage(pinpointSpan{id: 1, events: []pinpointEvent{
		{sequence: 0, depth: 1, api: testAPI}, {sequence: 1, depth: 2, api: testAPI}, {sequence: 2, api: testAPI},
	}})
	c := count(3, named(testAPIName), [][]byte{fork}, nil)
	samples.ExpectCount(t, c, account.Account{Records: 3, PartialTrees: 1})
}

func TestASpanThatComesAgainIsDuplicate(t *testing.T) {
	span := pinpointCalls(1, 10, 20)
	c := count(10, named(testAPIName), append(span, span...), nil)
	samples.ExpectCount(t, c, account.Account{Records: 10, CompleteTrees: 1, Duplicates: 10})
}

func TestAnEventThatEndsBeforeItBeginsSpoilsItsTree(t *testing.T) {
	span := pinpointMessage(pinpointSpan{id: 1, events: []pinpointEvent{{depth: 1, elapsed: -1, api: testAPI}}})
	c := count(1, named(testAPIName), [][]byte{span}, nil)
	samples.ExpectCount(t, c, account.Account{Records: 1, PartialTrees: 1, EndBeforeStart: 1})
}

func TestRecordsWaitForTheirNames(t *testing.T) {
	var spans [][]byte
	for transaction := range uint64(100) {
		spans = append(spans, pinpointCalls(transaction, 10, 20)...)
	}
	c := count(10, nil, spans, named(testAPIName))
	samples.ExpectCount(t, c, account.Account{Records: 1000, CompleteTrees: 100})
}

func TestRecordsThatHaveWaitedInVainAreUnexpected(t *testing.T) {
	c := count(10, named(), pinpointCalls(1, 10, 20), [][]byte{apiNameMessage(testAPI+1, testAPIName)})
	samples.ExpectCount(t, c, account.Account{UnexpectedNames: 10, Unexpected: map[string]int64{"without a name": 10}})
}

func TestOtherMethodsAreUnexpected(t *testing.T) {
	span := pinpointMessage(pinpointSpan{id: 1, events: []pinpointEvent{
		{sequence: 0, depth: 1, api: testAPI + 1}, {sequence: 1, depth: 1, api: testAPI}, {sequence: 2, depth: 1, api: 0},
	}})
	c := count(1, named(testAPIName, "demo.Other.method()"), [][]byte{span}, nil)
	samples.ExpectCount(t, c, account.Account{
		Records: 1, CompleteTrees: 1, UnexpectedNames: 2, Unexpected: map[string]int64{"demo.Other.method()": 1, "": 1},
	})
}

func TestTheNewestNameOfANumberHolds(t *testing.T) {
	again := [][]byte{apiNameMessage(testAPI, "demo.Other.method()"), apiNameMessage(testAPI, testAPIName)}
	c := count(10, again, pinpointCalls(1, 10, 20), nil)
	samples.ExpectCount(t, c, account.Account{Records: 10, CompleteTrees: 1})
}

func TestSpansWithoutIDsAndHugeOnesAreMalformed(t *testing.T) {
	noIDs := appendBytes(nil, messageSpan, appendBytes(nil, spanEvents, pinpointEventBytes(pinpointEvent{depth: 1, api: testAPI})))
	huge := pinpointMessage(pinpointSpan{id: 1, events: make([]pinpointEvent, maxSpanEvents+1)})
	c := count(1, named(testAPIName), [][]byte{noIDs, huge}, nil)
	samples.ExpectCount(t, c, account.Account{Malformed: 2})
}
