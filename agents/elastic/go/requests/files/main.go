// Command service is the HTTP service with Elastic APM's transactions of requests and spans of statements: nothing
// attaches to a Go program from outside. The agent's own variables set it up.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.elastic.co/apm/module/apmhttp/v2"
	"go.elastic.co/apm/module/apmpgxv5/v2"
	"go.elastic.co/apm/v2"

	"tracetax/requests"
)

// endWithin is how long the last events may take to be sent when the program ends.
const endWithin = 10 * time.Second

func main() {
	tracer := apm.DefaultTracer()
	code := requests.Main(requests.Instrumentation{
		Handler: func(handler http.Handler) http.Handler { return apmhttp.Wrap(handler) },
		NewPool: newPool,
	})
	end(tracer)
	os.Exit(code)
}

func newPool(ctx context.Context, config *pgxpool.Config) (*pgxpool.Pool, error) {
	apmpgxv5.Instrument(config.ConnConfig)
	return pgxpool.NewWithConfig(ctx, config)
}

// end has the last events sent, and says how many the agent has dropped: it counts them, and prints nothing itself.
func end(tracer *apm.Tracer) {
	if !tracer.Active() {
		return // it sends nothing by intention, and counts that as dropped
	}
	late := make(chan struct{})
	time.AfterFunc(endWithin, func() { close(late) })
	tracer.Flush(late)
	tracer.Close()
	stats := tracer.Stats()
	if dropped := stats.TransactionsDropped + stats.SpansDropped; dropped > 0 {
		fmt.Fprintf(os.Stderr, "elastic: dropped %d events, %d of them transactions\n", dropped, stats.TransactionsDropped)
	}
}
