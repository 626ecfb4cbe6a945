// Command service is the HTTP service with OpenTelemetry's spans of requests and of statements: nothing attaches to a Go
// program from outside.
//
// The variables of OpenTelemetry's specification set it up. TRACETAX_PROCESSOR says what becomes of ended spans, for
// which there is no such variable: batch, which is what an application is told to use, or simple. With
// TRACETAX_ACQUIRE=off the wait for a connection makes no span.
package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"tracetax/requests"
)

// endWithin is how long the last spans may take to be sent when the program ends.
const endWithin = 10 * time.Second

func main() {
	os.Exit(run(context.Background()))
}

// run sets tracing up, serves, and has the last spans sent; it returns the exit code.
func run(ctx context.Context) int {
	end, err := setUp(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "opentelemetry:", err)
		return 1
	}
	code := requests.Main(requests.Instrumentation{
		Handler: func(handler http.Handler) http.Handler { return otelhttp.NewHandler(handler, "server") },
		NewPool: newPool,
	})
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	if err := end(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "opentelemetry:", err)
	}
	return code
}

func newPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	config.ConnConfig.Tracer = newTracer()
	return pgxpool.NewWithConfig(ctx, config)
}

// newTracer traces statements, and the wait for a connection unless that is off.
func newTracer() *otelpgx.Tracer {
	if os.Getenv("TRACETAX_ACQUIRE") == "off" {
		return otelpgx.NewTracer(otelpgx.WithDisableAcquireTracer())
	}
	return otelpgx.NewTracer()
}

// setUp installs the SDK, unless it is disabled, and returns what ends it.
func setUp(ctx context.Context) (end func(context.Context) error, err error) {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return func(context.Context) error { return nil }, nil
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	var processor sdk.SpanProcessor
	switch kind := cmp.Or(os.Getenv("TRACETAX_PROCESSOR"), "batch"); kind {
	case "batch":
		processor = sdk.NewBatchSpanProcessor(exporter)
	case "simple":
		processor = sdk.NewSimpleSpanProcessor(exporter)
	default:
		return nil, fmt.Errorf("TRACETAX_PROCESSOR=%s: neither batch nor simple", kind)
	}
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(processor))
	otel.SetTracerProvider(provider)
	return provider.Shutdown, nil
}
