package requests

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	selectWorld = "SELECT id, randomnumber FROM world WHERE id = $1"
	updateWorld = "UPDATE world SET randomnumber = $1 WHERE id = $2"
	rows        = 10_000
	// connectionWithin is how long a request waits for a connection.
	connectionWithin = 5 * time.Second
)

// world is a row.
type world struct {
	ID           int `json:"id"`
	RandomNumber int `json:"randomNumber"`
}

// worlds is the table.
type worlds struct{ pool *pgxpool.Pool }

// random reads one row after the other, by random ids.
func (w *worlds) random(ctx context.Context, count int) ([]world, error) {
	connection, err := w.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Release()
	return read(ctx, connection, count)
}

// updated reads rows by random ids and writes a new number into each, in one transaction. Rows are written in the order
// of their ids, so that transactions do not wait for each other in a circle.
func (w *worlds) updated(ctx context.Context, count int) ([]world, error) {
	connection, err := w.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer connection.Release()
	var found []world
	err = pgx.BeginFunc(ctx, connection, func(tx pgx.Tx) error {
		var err error
		if found, err = read(ctx, tx, count); err != nil {
			return err
		}
		slices.SortFunc(found, func(a, b world) int { return cmp.Compare(a.ID, b.ID) })
		for i := range found {
			found[i].RandomNumber = randomNumber()
			if _, err := tx.Exec(ctx, updateWorld, found[i].RandomNumber, found[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// acquire takes a connection for a whole request.
func (w *worlds) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectionWithin)
	defer cancel()
	return w.pool.Acquire(ctx)
}

type querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

func read(ctx context.Context, from querier, count int) ([]world, error) {
	found := make([]world, count)
	for i := range found {
		row := from.QueryRow(ctx, selectWorld, randomNumber())
		if err := row.Scan(&found[i].ID, &found[i].RandomNumber); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// randomNumber is an id, or a number for a row: both are from 1 to 10,000.
func randomNumber() int {
	return 1 + rand.IntN(rows)
}
