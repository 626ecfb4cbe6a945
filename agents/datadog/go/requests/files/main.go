// Command service is the HTTP service with Datadog's spans of requests and of statements, by the libraries that its
// compile-time tool puts in too. The tracer's own variables set it up. With TRACETAX_ACQUIRE=off neither the wait for a
// connection nor the preparation of a statement makes a span.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	pgxtrace "github.com/DataDog/dd-trace-go/contrib/jackc/pgx.v5/v2"
	httptrace "github.com/DataDog/dd-trace-go/contrib/net/http/v2"
	"github.com/DataDog/dd-trace-go/v2/ddtrace/tracer"
	"github.com/jackc/pgx/v5/pgxpool"

	"tracetax/requests"
)

func main() {
	if err := tracer.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "datadog:", err)
		os.Exit(1)
	}
	code := requests.Main(requests.Instrumentation{
		Handler: func(handler http.Handler) http.Handler { return httptrace.WrapHandler(handler, "", "") },
		NewPool: newPool,
	})
	tracer.Stop() // sends what waits
	os.Exit(code)
}

func newPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	others := os.Getenv("TRACETAX_ACQUIRE") != "off"
	return pgxtrace.NewPoolWithConfig(ctx, config, pgxtrace.WithTraceAcquire(others), pgxtrace.WithTracePrepare(others))
}
