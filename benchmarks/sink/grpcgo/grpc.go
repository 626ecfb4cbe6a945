// This file stands in for sink/internal/receiver/otlp/grpc.go where the sink is built for the comparison with grpc-go:
// the same walk, ledger and trees behind another gRPC. See sink_against_sink.py.

package otlp

import (
	"context"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"

	"tracetax/sink/internal/clock"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/message"
	"tracetax/sink/internal/protocol"
)

// Sizes that let grpc-go do as little as it can: no client waits for a window, and no message is too large.
const (
	libraryWindow  = 1 << 30
	libraryRead    = 128 << 10
	libraryMessage = 64 << 20
	libraryStreams = 16
)

// newGRPC answers the unary calls that bring spans by grpc-go.
func newGRPC(recordName string, l *ledger.Ledger, _ *message.Memory) protocol.Receiver {
	walks := &sync.Pool{New: func() any { return newWalk(recordName, l) }}
	server := grpc.NewServer(
		grpc.ForceServerCodecV2(rawBytes{}),
		grpc.MaxRecvMsgSize(libraryMessage),
		grpc.ReadBufferSize(libraryRead),
		grpc.StaticStreamWindowSize(libraryWindow),
		grpc.StaticConnWindowSize(libraryWindow),
		grpc.MaxConcurrentStreams(libraryStreams),
		grpc.NumStreamWorkers(libraryStreams),
	)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "opentelemetry.proto.collector.trace.v1.TraceService",
		Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(
			_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
		) (any, error) {
			var received mem.Buffer
			if err := decode(&received); err != nil {
				return nil, err
			}
			defer received.Free()
			data := received.ReadOnlyData()
			w := walks.Get().(*walk)
			defer walks.Put(w)
			w.batch.ArrivalNs = clock.MonotonicNs()
			w.batch.Requests, w.batch.Bytes = 1, int64(len(data))
			err := w.request(data)
			if err != nil {
				w.batch.Malformed++
			}
			l.Apply(w.batch)
			return nil, err
		}}},
	}, nil)
	other := func(service, signal string) {
		server.RegisterService(&grpc.ServiceDesc{
			ServiceName: "opentelemetry.proto.collector." + service,
			Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(
				_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor,
			) (any, error) {
				var received mem.Buffer
				if err := decode(&received); err != nil {
					return nil, err
				}
				defer received.Free()
				l.Other(signal, int64(len(received.ReadOnlyData())))
				return nil, nil
			}}},
		}, nil)
	}
	other("metrics.v1.MetricsService", ledger.Metrics)
	other("logs.v1.LogsService", ledger.Logs)
	return &libraryReceiver{server}
}

// libraryReceiver is grpc-go's server.
type libraryReceiver struct{ server *grpc.Server }

// Serve answers calls until the listener is closed.
func (r *libraryReceiver) Serve(l net.Listener) { _ = r.server.Serve(l) }

// Stop ends all connections after the grace.
func (r *libraryReceiver) Stop(grace time.Duration) {
	time.AfterFunc(grace, r.server.Stop)
	r.server.GracefulStop()
}

// rawBytes hands messages over in one piece, without looking into them.
type rawBytes struct{ encoding.CodecV2 }

// Name is that of the codec that it stands in for.
func (rawBytes) Name() string { return "proto" }

// Marshal gives the only reply, an empty one.
func (rawBytes) Marshal(any) (mem.BufferSlice, error) { return nil, nil }

// Unmarshal copies a message that came in several frames into one of grpc-go's own buffers.
func (rawBytes) Unmarshal(data mem.BufferSlice, to any) error {
	*to.(*mem.Buffer) = data.MaterializeToBuffer(mem.DefaultBufferPool())
	return nil
}
