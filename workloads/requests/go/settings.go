package requests

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
)

// settings is what the environment says.
type settings struct {
	listen string
	pool   *pgxpool.Config
}

func readSettings() (*settings, error) {
	listen, url := os.Getenv("LISTEN"), os.Getenv("DATABASE_URL")
	if listen == "" || url == "" {
		return nil, errors.New("LISTEN and DATABASE_URL must be set")
	}
	size, err := strconv.ParseInt(cmp.Or(os.Getenv("POOL"), "10"), 10, 32)
	if err != nil || size < 1 {
		return nil, fmt.Errorf("POOL=%s: not a number of connections", os.Getenv("POOL"))
	}
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	pool.MaxConns = int32(size)
	return &settings{listen, pool}, nil
}
