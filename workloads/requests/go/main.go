// Package requests is an HTTP service that reads and writes rows of a PostgreSQL database. A program with an agent
// passes what traces to Main.
package requests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// endWithin is how long requests that are under way may take when the service is told to end.
	endWithin = 800 * time.Millisecond
	// keepAlive is how long a client's connection stays open while nothing comes.
	keepAlive = 75 * time.Second
)

// Instrumentation is what an agent adds. Both functions may be nil.
type Instrumentation struct {
	// Handler wraps the handler of all requests.
	Handler func(http.Handler) http.Handler
	// NewPool makes the pool of connections, as with a tracer of statements.
	NewPool func(context.Context, *pgxpool.Config) (*pgxpool.Pool, error)
}

// Main serves until SIGTERM or SIGINT, and returns the exit code: what an agent has to do at the end comes after it.
func Main(instrumentation Instrumentation) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := serve(ctx, instrumentation); err != nil {
		fmt.Fprintln(os.Stderr, "requests:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, instrumentation Instrumentation) error {
	s, err := readSettings()
	if err != nil {
		return err
	}
	newPool := pgxpool.NewWithConfig
	if instrumentation.NewPool != nil {
		newPool = instrumentation.NewPool
	}
	pool, err := newPool(ctx, s.pool)
	if err != nil {
		return err
	}
	defer pool.Close()
	handler := http.Handler(newHandler(&worlds{pool}))
	if instrumentation.Handler != nil {
		handler = instrumentation.Handler(handler)
	}
	server := &http.Server{Addr: s.listen, Handler: handler, IdleTimeout: keepAlive}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		within, cancel := context.WithTimeout(context.Background(), endWithin)
		defer cancel()
		ended <- server.Shutdown(within)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}
