package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/receiver"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
)

func TestGRPCAtAnHTTPPortIsToldInItsOwnWordsAndCounted(t *testing.T) {
	for _, protocol := range []string{"otlp-http", "zipkin", "elastic", "datadog"} {
		t.Run(protocol, func(t *testing.T) {
			r := sinktest.Start(t, receiver.Table, "--protocols", protocol, "--depth", "10", "--record-name", samples.SpanName)
			conn := r.Dial(protocol)
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			p := grpctest.NewPeer(t, conn, conn)
			io.WriteString(conn, http2.ClientPreface)
			p.Framer.WriteSettings()
			p.Call(1, samples.ExportRequest(samples.CallSpans(1, 10)...), 1000)
			for {
				frame, err := p.Framer.ReadFrame()
				if err != nil {
					t.Fatalf("the reason never came: %v", err)
				}
				if last, ok := frame.(*http2.GoAwayFrame); ok {
					if said := string(last.DebugData()); said != "gRPC came to the HTTP port: use otlp-grpc" {
						t.Errorf("said %q", said)
					}
					break
				}
			}
			conn.Close()
			samples.ExpectCount(t, r.Stop().Protocols[protocol], account.Account{GRPCAtHTTP: 1})
		})
	}
}

func TestHTTP1AtAGRPCPortIsToldInItsOwnWordsAndCounted(t *testing.T) {
	for _, protocol := range []string{"otlp-grpc", "skywalking", "pinpoint"} {
		t.Run(protocol, func(t *testing.T) {
			r := sinktest.Start(t, receiver.Table, "--protocols", protocol, "--depth", "10", "--record-name", samples.SpanName)
			conn := r.Dial(protocol)
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			io.WriteString(conn, "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n"+strings.Repeat("x", 10_000))
			answer, err := io.ReadAll(conn)
			if !strings.HasPrefix(string(answer), "HTTP/1.1 400") || !strings.HasSuffix(string(answer), "use otlp-http") {
				t.Errorf("answered %q, %v", answer, err)
			}
			conn.Close()
			samples.ExpectCount(t, r.Stop().Protocols[protocol], account.Account{HTTPAtGRPC: 1})
		})
	}
}
