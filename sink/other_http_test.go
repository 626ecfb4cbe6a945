package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

func TestGRPCAtAnHTTPPortIsToldInItsOwnWordsAndCounted(t *testing.T) {
	for _, protocol := range []string{"otlp-http", "zipkin", "elastic", "datadog"} {
		t.Run(protocol, func(t *testing.T) {
			r := start(t, "--protocols", protocol, "--depth", "10", "--record-name", testSpan)
			conn := r.dial(protocol)
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			p := newGRPCPeer(t, conn, conn)
			io.WriteString(conn, http2.ClientPreface)
			p.framer.WriteSettings()
			p.call(1, exportRequest(callSpans(1, 10)...), 1000)
			for {
				frame, err := p.framer.ReadFrame()
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
			expectCount(t, r.stop().Protocols[protocol], protocolCount{GRPCAtHTTP: 1})
		})
	}
}

func TestHTTP1AtAGRPCPortIsToldInItsOwnWordsAndCounted(t *testing.T) {
	for _, protocol := range []string{"otlp-grpc", "skywalking", "pinpoint"} {
		t.Run(protocol, func(t *testing.T) {
			r := start(t, "--protocols", protocol, "--depth", "10", "--record-name", testSpan)
			conn := r.dial(protocol)
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			io.WriteString(conn, "POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n"+strings.Repeat("x", 10_000))
			answer, err := io.ReadAll(conn)
			if !strings.HasPrefix(string(answer), "HTTP/1.1 400") || !strings.HasSuffix(string(answer), "use otlp-http") {
				t.Errorf("answered %q, %v", answer, err)
			}
			conn.Close()
			expectCount(t, r.stop().Protocols[protocol], protocolCount{HTTPAtGRPC: 1})
		})
	}
}
