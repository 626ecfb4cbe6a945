// Command calltree is the call tree workload with OpenTelemetry's spans, made by hand: nothing attaches to a Go program
// from outside.
//
// The variables of OpenTelemetry's specification set it up. TRACETAX_PROCESSOR says what becomes of ended spans, for
// which there is no such variable: batch, which is what an application is told to use, simple, or none.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"tracetax/calltree"
)

const (
	spanName = "calltree.MonitoredMethod"
	// endWithin is how long the last spans may take to be sent when the program ends.
	endWithin = 10 * time.Second
)

var tracer trace.Tracer

func main() {
	os.Exit(run(context.Background()))
}

// run sets tracing up, runs the workload, and has the last spans sent; it returns the exit code.
func run(ctx context.Context) int {
	end, err := setUp(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "opentelemetry:", err)
		return 1
	}
	tracer = otel.Tracer("tracetax/calltree")
	code := calltree.Main(monitoredMethod)
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	if err := end(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "opentelemetry:", err)
	}
	return code
}

// monitoredMethod is calltree.MonitoredMethod with a span.
//
//go:noinline
func monitoredMethod(ctx context.Context, methodTimeNs int64, depth int) int64 {
	ctx, span := tracer.Start(ctx, spanName)
	defer span.End()
	if depth > 1 {
		return monitoredMethod(ctx, methodTimeNs, depth-1)
	}
	return calltree.Work(methodTimeNs)
}

// setUp installs the SDK, unless it is disabled, and returns what ends it.
func setUp(ctx context.Context) (end func(context.Context) error, err error) {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return func(context.Context) error { return nil }, nil
	}
	processor, err := newProcessor(ctx)
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(processor))
	otel.SetTracerProvider(provider)
	return provider.Shutdown, nil
}

// newProcessor is what ended spans are handed to.
func newProcessor(ctx context.Context) (sdk.SpanProcessor, error) {
	kind := cmp.Or(os.Getenv("TRACETAX_PROCESSOR"), "batch")
	if kind == "none" {
		return ignored{}, nil
	}
	exporter, err := newExporter(ctx)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "batch":
		return sdk.NewBatchSpanProcessor(exporter), nil
	case "simple":
		return sdk.NewSimpleSpanProcessor(exporter), nil
	}
	return nil, fmt.Errorf("TRACETAX_PROCESSOR=%s: not one of batch, simple and none", kind)
}

// newExporter is for the protocol that is asked for. Each exporter reads the other variables itself.
func newExporter(ctx context.Context) (sdk.SpanExporter, error) {
	switch protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf"); protocol {
	case "http/protobuf":
		return otlptracehttp.New(ctx)
	case "grpc":
		return otlptracegrpc.New(ctx)
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL=%s: neither http/protobuf nor grpc", protocol)
	}
}

// ignored takes no notice of the spans that it is handed.
type ignored struct{}

func (ignored) OnStart(context.Context, sdk.ReadWriteSpan) {}

func (ignored) OnEnd(sdk.ReadOnlySpan) {}

func (ignored) Shutdown(context.Context) error { return nil }

func (ignored) ForceFlush(context.Context) error { return nil }
