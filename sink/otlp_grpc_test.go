package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

const (
	exportTraces  = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
	exportMetrics = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
	exportLogs    = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
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

func grpcClient(t *testing.T, port int) *grpc.ClientConn {
	t.Helper()
	client, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func invoke(client *grpc.ClientConn, method string, message []byte, options ...grpc.CallOption) error {
	var reply []byte
	err := client.Invoke(context.Background(), method, message, &reply, options...)
	if err == nil && len(reply) != 0 {
		return fmt.Errorf("the reply has %d bytes", len(reply))
	}
	return err
}

func startGRPC(t *testing.T, arguments ...string) (*running, *grpc.ClientConn) {
	t.Helper()
	r := start(t, append([]string{"--protocols", "otlp-grpc", "--depth", "10", "--record-name", testSpan}, arguments...)...)
	return r, grpcClient(t, r.ports["otlp-grpc"])
}

func TestSpansOverGRPCAreCountedExactly(t *testing.T) {
	r, client := startGRPC(t)
	for i := range uint64(20) {
		var spans []span
		for trace := range uint64(50) {
			spans = append(spans, callSpans(i*50+trace+1, 10)...)
		}
		if err := invoke(client, exportTraces, exportRequest(spans...)); err != nil {
			t.Fatal(err)
		}
	}
	c := r.stop().Protocols["otlp-grpc"]
	if c.Requests != 20 {
		t.Errorf("%d requests", c.Requests)
	}
	expectCount(t, c, protocolCount{Records: 10_000, CompleteTrees: 1000})
}

func TestCompressedGRPCMessagesAreCounted(t *testing.T) {
	r, client := startGRPC(t)
	if err := invoke(client, exportTraces, exportRequest(callSpans(1, 10)...), grpc.UseCompressor("gzip")); err != nil {
		t.Fatal(err)
	}
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 10, CompleteTrees: 1})
}

func TestLargeGRPCMessagesAreCounted(t *testing.T) {
	r, client := startGRPC(t)
	var spans []span
	for trace := range uint64(5000) {
		spans = append(spans, callSpans(trace+1, 10)...)
	}
	if err := invoke(client, exportTraces, exportRequest(spans...)); err != nil {
		t.Fatal(err)
	}
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Records: 50_000, CompleteTrees: 5000})
}

func TestMetricsAndLogsOverGRPCAreAnsweredAndTheirBytesCounted(t *testing.T) {
	r, client := startGRPC(t)
	for method, size := range map[string]int{exportMetrics: 1000, exportLogs: 300} {
		if err := invoke(client, method, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{OtherBytes: map[string]int64{metrics: 1000, logs: 300}})
}

func TestAGarbledGRPCMessageIsMalformed(t *testing.T) {
	r, client := startGRPC(t)
	if err := invoke(client, exportTraces, []byte("\x0a\x05abc")); status.Code(err) != codes.InvalidArgument {
		t.Errorf("answered %v", err)
	}
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Malformed: 1})
}

func TestAnUnknownGRPCMethodIsUnimplemented(t *testing.T) {
	_, client := startGRPC(t)
	if err := invoke(client, "/some.Service/Method", []byte("x")); status.Code(err) != codes.Unimplemented {
		t.Errorf("answered %v", err)
	}
}

func TestAGRPCMessageBeyondTheLimitIsRefused(t *testing.T) {
	r, client := startGRPC(t, "--max-memory", fmt.Sprint(minMaxMemory))
	message := make([]byte, divide(minMaxMemory, 1).messageLimit+1)
	for range 3 {
		if err := invoke(client, exportTraces, message); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("answered %v", err)
		}
	}
	if err := invoke(client, exportTraces, exportRequest(callSpans(1, 10)...)); err != nil {
		t.Error(err)
	}
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Malformed: 3, Records: 10, CompleteTrees: 1})
}

// http2Client speaks HTTP/2 without gRPC's care for what it sends.
func http2Client(t *testing.T) *http.Client {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestATruncatedGRPCMessageIsMalformed(t *testing.T) {
	r, _ := startGRPC(t)
	url := fmt.Sprintf("http://127.0.0.1:%d%s", r.ports["otlp-grpc"], exportTraces)
	request := exportRequest(callSpans(1, 10)...)
	framed := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request))), request...)
	for _, cut := range []int{0, 3, 5, len(framed) - 1} {
		body, write := io.Pipe()
		go func() {
			write.Write(framed[:cut])
			write.Close()
		}()
		reply, err := http2Client(t).Post(url, "application/grpc", body)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, reply.Body)
		if code := reply.Header.Get("Grpc-Status") + reply.Trailer.Get("Grpc-Status"); code != "3" {
			t.Errorf("cut at %d: status %q", cut, code)
		}
		reply.Body.Close()
	}
	expectCount(t, r.stop().Protocols["otlp-grpc"], protocolCount{Malformed: 4})
}
