package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"tracetax/sink/internal/receiver"
	"tracetax/sink/internal/sink"
	"tracetax/sink/internal/sinktest"
)

func FuzzControl(f *testing.F) {
	f.Add([]byte("counts\nphase measured\ncounts\nstop\n"))
	f.Add([]byte("phase measured after 10\ncounts\nphase other\nstop\n"))
	f.Add([]byte("read kieker-binary-file measured after 3 /no such folder\nread kieker-text-file m last 0 /\ncounts\nstop\n"))
	f.Add(append(bytes.Repeat([]byte("x"), commandLimit+1), "\nphase\n\xff"...))
	f.Fuzz(func(t *testing.T, commands []byte) {
		answers := sinktest.Obey(t, receiver.Table, string(commands))
		for _, answer := range answers {
			if !json.Valid([]byte(answer)) {
				t.Fatalf("%q is no JSON", answer)
			}
		}
		if lines := bytes.Count(commands, []byte("\n")) + 1; len(answers) > lines {
			t.Fatalf("%d answers for %d commands", len(answers), lines)
		}
		var last sink.Report
		if err := json.Unmarshal([]byte(answers[len(answers)-1]), &last); err != nil || last.Phase == "" {
			t.Fatalf("the last answer is %q", answers[len(answers)-1])
		}
	})
}
