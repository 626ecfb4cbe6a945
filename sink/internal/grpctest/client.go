package grpctest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
)

// OpenBothWays begins a call in which messages go both ways.
func OpenBothWays(t *testing.T, client *grpc.ClientConn, method string) grpc.ClientStream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	stream, err := client.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

const (
	ExportTraces  = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
	ExportMetrics = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
	ExportLogs    = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
)

// rawCodec lets a client send and receive messages as bytes.
type rawCodec struct{ encoding.CodecV2 }

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// Client is grpc-go's client of a loopback port, which sends and receives bytes.
func Client(t *testing.T, port int) *grpc.ClientConn {
	t.Helper()
	client, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// Invoke makes a unary call. A reply that is not empty is an error.
func Invoke(client *grpc.ClientConn, method string, message []byte, options ...grpc.CallOption) error {
	var reply []byte
	err := client.Invoke(context.Background(), method, message, &reply, options...)
	if err == nil && len(reply) != 0 {
		return fmt.Errorf("the reply has %d bytes", len(reply))
	}
	return err
}
