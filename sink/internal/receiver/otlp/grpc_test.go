package otlp

import (
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/bounds"
	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/samples"
)

func TestSpansOverGRPCAreCountedExactly(t *testing.T) {
	r, client := startGRPC(t)
	for i := range uint64(20) {
		var spans []samples.Span
		for trace := range uint64(50) {
			spans = append(spans, samples.CallSpans(i*50+trace+1, 10)...)
		}
		if err := grpctest.Invoke(client, grpctest.ExportTraces, samples.ExportRequest(spans...)); err != nil {
			t.Fatal(err)
		}
	}
	c := r.Stop().Protocols["otlp-grpc"]
	if c.Requests != 20 {
		t.Errorf("%d requests", c.Requests)
	}
	samples.ExpectCount(t, c, account.Account{Records: 10_000, CompleteTrees: 1000})
}

func TestCompressedGRPCMessagesAreCounted(t *testing.T) {
	r, client := startGRPC(t)
	if err := grpctest.Invoke(client, grpctest.ExportTraces, samples.ExportRequest(samples.CallSpans(1, 10)...), grpc.UseCompressor("gzip")); err != nil {
		t.Fatal(err)
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 10, CompleteTrees: 1})
}

func TestLargeGRPCMessagesAreCounted(t *testing.T) {
	r, client := startGRPC(t)
	var spans []samples.Span
	for trace := range uint64(5000) {
		spans = append(spans, samples.CallSpans(trace+1, 10)...)
	}
	if err := grpctest.Invoke(client, grpctest.ExportTraces, samples.ExportRequest(spans...)); err != nil {
		t.Fatal(err)
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Records: 50_000, CompleteTrees: 5000})
}

func TestMetricsAndLogsOverGRPCAreAnsweredAndTheirBytesCounted(t *testing.T) {
	r, client := startGRPC(t)
	for method, size := range map[string]int{grpctest.ExportMetrics: 1000, grpctest.ExportLogs: 300} {
		if err := grpctest.Invoke(client, method, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{OtherBytes: map[string]int64{ledger.Metrics: 1000, ledger.Logs: 300}})
}

func TestAGarbledGRPCMessageIsMalformed(t *testing.T) {
	r, client := startGRPC(t)
	if err := grpctest.Invoke(client, grpctest.ExportTraces, []byte("\x0a\x05abc")); status.Code(err) != codes.InvalidArgument {
		t.Errorf("answered %v", err)
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Malformed: 1})
}

func TestAnUnknownGRPCMethodIsUnimplemented(t *testing.T) {
	_, client := startGRPC(t)
	if err := grpctest.Invoke(client, "/some.Service/Method", []byte("x")); status.Code(err) != codes.Unimplemented {
		t.Errorf("answered %v", err)
	}
}

func TestAGRPCMessageBeyondTheLimitIsRefused(t *testing.T) {
	r, client := startGRPC(t, "--max-memory", fmt.Sprint(bounds.LeastMemory))
	message := make([]byte, bounds.Divide(bounds.LeastMemory, 1).MessageLimit+1)
	for range 3 {
		if err := grpctest.Invoke(client, grpctest.ExportTraces, message); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("answered %v", err)
		}
	}
	if err := grpctest.Invoke(client, grpctest.ExportTraces, samples.ExportRequest(samples.CallSpans(1, 10)...)); err != nil {
		t.Error(err)
	}
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Malformed: 3, Records: 10, CompleteTrees: 1})
}

func TestATruncatedGRPCMessageIsMalformed(t *testing.T) {
	r, _ := startGRPC(t)
	url := fmt.Sprintf("http://127.0.0.1:%d%s", r.Ports["otlp-grpc"], grpctest.ExportTraces)
	request := samples.ExportRequest(samples.CallSpans(1, 10)...)
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
	samples.ExpectCount(t, r.Stop().Protocols["otlp-grpc"], account.Account{Malformed: 4})
}
