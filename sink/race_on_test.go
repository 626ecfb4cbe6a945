//go:build race

package main

// underRace says that the race detector watches, whose own memory is several times the program's.
const underRace = true
