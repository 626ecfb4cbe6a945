package skywalking

import (
	"context"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

const collectSegments = "/skywalking.v3.TraceSegmentReportService/collect"

func start(t *testing.T, arguments ...string) (*sinktest.Running, *grpc.ClientConn) {
	t.Helper()
	r := sinktest.Start(t, protocol.Table{"skywalking": Protocol}, append([]string{"--protocols", "skywalking", "--depth", "10", "--record-name", samples.SpanName}, arguments...)...)
	return r, grpctest.Client(t, r.Ports["skywalking"])
}

// openClientStream begins a client's stream, as the agent does for what it has.
func openClientStream(t *testing.T, ctx context.Context, client *grpc.ClientConn, method string) grpc.ClientStream {
	t.Helper()
	stream, err := client.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, method)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func sendSegments(t *testing.T, stream grpc.ClientStream, messages ...[]byte) {
	t.Helper()
	for _, message := range messages {
		if err := stream.SendMsg(message); err != nil && err != io.EOF {
			t.Fatal(err)
		}
	}
}

// finishSegments ends the stream and returns how the sink replied.
func finishSegments(t *testing.T, stream grpc.ClientStream) error {
	t.Helper()
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var reply []byte
	err := stream.RecvMsg(&reply)
	if len(reply) != 0 {
		t.Errorf("the reply has %d bytes", len(reply))
	}
	return err
}

func callSegments(from, count, depth int) [][]byte {
	var messages [][]byte
	for call := from; call < from+count; call++ {
		messages = append(messages, segmentBytes(callSegment(call, depth)))
	}
	return messages
}

func TestStreamsOfSegmentsAreCountedExactly(t *testing.T) {
	r, client := start(t)
	for i := range 20 {
		stream := openClientStream(t, context.Background(), client, collectSegments)
		sendSegments(t, stream, callSegments(i*50, 50, 10)...)
		if err := finishSegments(t, stream); err != nil {
			t.Fatal(err)
		}
	}
	c := r.Stop().Protocols["skywalking"]
	if c.Requests != 1000 {
		t.Errorf("%d messages", c.Requests)
	}
	samples.ExpectCount(t, c, account.Account{Records: 10_000, CompleteTrees: 1000})
}

func TestSegmentsCountBeforeTheirStreamEnds(t *testing.T) {
	r, client := start(t)
	stream := openClientStream(t, context.Background(), client, collectSegments)
	sendSegments(t, stream, callSegments(0, 3, 10)...)
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 30 })
	sendSegments(t, stream, callSegments(3, 1, 10)...)
	if err := finishSegments(t, stream); err != nil {
		t.Fatal(err)
	}
	samples.ExpectCount(t, r.Stop().Protocols["skywalking"], account.Account{Records: 40, CompleteTrees: 4})
}

func TestAStreamThatItsSenderLeavesIsCutOffAndItsSegmentsStay(t *testing.T) {
	r, client := start(t)
	ctx, leave := context.WithCancel(context.Background())
	stream := openClientStream(t, ctx, client, collectSegments)
	sendSegments(t, stream, callSegments(0, 3, 10)...)
	r.Await("counted", func(c sink.Counts) bool { return c.Records == 30 })
	leave()
	samples.ExpectCount(t, r.Stop().Protocols["skywalking"], account.Account{Records: 30, CompleteTrees: 3, CutOff: 1})
}

func TestAGarbledSegmentEndsItsStreamAndNoOther(t *testing.T) {
	r, client := start(t)
	stream := openClientStream(t, context.Background(), client, collectSegments)
	sendSegments(t, stream, callSegments(0, 2, 10)...)
	sendSegments(t, stream, []byte("\x1a\x05abc"))
	if err := finishSegments(t, stream); status.Code(err) != codes.InvalidArgument {
		t.Errorf("answered %v", err)
	}
	next := openClientStream(t, context.Background(), client, collectSegments)
	sendSegments(t, next, callSegments(2, 1, 10)...)
	if err := finishSegments(t, next); err != nil {
		t.Error(err)
	}
	samples.ExpectCount(t, r.Stop().Protocols["skywalking"], account.Account{Records: 30, CompleteTrees: 3, Malformed: 1})
}

func TestWhatElseASkyWalkingAgentSaysIsAnsweredAndItsBytesToldApart(t *testing.T) {
	r, client := start(t)
	want := map[string]int64{}
	for path, signal := range otherMethods {
		if err := grpctest.Invoke(client, path, make([]byte, 100)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		want[signal] += 100
	}
	stream := openClientStream(t, context.Background(), client, "/skywalking.v3.MeterReportService/collect")
	sendSegments(t, stream, make([]byte, 30), make([]byte, 12))
	if err := finishSegments(t, stream); err != nil {
		t.Error(err)
	}
	want[ledger.Metrics] += 42
	samples.ExpectCount(t, r.Stop().Protocols["skywalking"], account.Account{OtherBytes: want})
}
