// Command receiver is what the sink is compared with, and what feeds all that are compared:
//
//	receiver receive          a gRPC receiver as one writes it with OpenTelemetry's own types: it unmarshals every message
//	receiver record FILE      takes messages on the same services and writes them to a file, unread
//	receiver replay FILE ADDR sends the messages of such a file, one call after the other over one connection
//	receiver unread FILE ADDR sends them to the service for metrics, whose messages the sink takes and does not look at
//
// The first two print their address as a line of JSON, and what they have counted when their input ends.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"

	"google.golang.org/grpc"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 1 && arguments[0] == "receive":
		s := &spanCounter{}
		return serve(s.server(), s)
	case len(arguments) == 2 && arguments[0] == "record":
		r, err := newRecorder(arguments[1])
		if err != nil {
			return err
		}
		if err := serve(r.server(), r); err != nil {
			return err
		}
		return r.close()
	case len(arguments) == 3 && arguments[0] == "replay":
		return replay(arguments[1], arguments[2], tracesExport)
	case len(arguments) == 3 && arguments[0] == "unread":
		return replay(arguments[1], arguments[2], metricsExport)
	default:
		return fmt.Errorf("give one of: receive, record FILE, replay FILE ADDRESS, unread FILE ADDRESS")
	}
}

// serve answers calls until the input ends, then prints what was counted.
func serve(server *grpc.Server, counted any) error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answers := json.NewEncoder(os.Stdout)
	if err := answers.Encode(map[string]string{"address": l.Addr().String()}); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.GracefulStop()
	}()
	if err := server.Serve(l); err != nil {
		return err
	}
	return answers.Encode(counted)
}
