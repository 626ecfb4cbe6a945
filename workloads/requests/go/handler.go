package requests

import (
	"encoding/json"
	"log"
	"net/http"
	"strconv"
)

const mostQueries = 500

type message struct {
	Message string `json:"message"`
}

// newHandler answers the five paths, and any other with 404.
func newHandler(table *worlds) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plaintext", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("Hello, World!"))
	})
	mux.HandleFunc("GET /json", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, message{"Hello, World!"}, nil)
	})
	mux.HandleFunc("GET /db", func(w http.ResponseWriter, r *http.Request) {
		found, err := table.random(r.Context(), 1)
		if err != nil {
			answer(w, nil, err)
			return
		}
		answer(w, found[0], nil)
	})
	mux.HandleFunc("GET /queries", func(w http.ResponseWriter, r *http.Request) {
		found, err := table.random(r.Context(), queries(r))
		answer(w, found, err)
	})
	mux.HandleFunc("GET /updates", func(w http.ResponseWriter, r *http.Request) {
		found, err := table.updated(r.Context(), queries(r))
		answer(w, found, err)
	})
	return mux
}

// queries is how many rows a request asks for: from 1 to 500, and 1 where it says no whole number.
func queries(r *http.Request) int {
	count, _ := strconv.Atoi(r.URL.Query().Get("queries")) // 0 where it is no number, the largest one where it is larger
	return min(max(count, 1), mostQueries)
}

// answer sends a value as JSON, or says that the database failed.
func answer(w http.ResponseWriter, value any, err error) {
	if err != nil {
		log.Print(err)
		http.Error(w, "the database failed", http.StatusInternalServerError)
		return
	}
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}
