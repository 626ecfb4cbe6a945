package otlp

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
	"tracetax/sink/internal/tree"
)

// jsonRequest is an ExportTraceServiceRequest in JSON.
func jsonRequest(spans ...samples.Span) []byte {
	list := make([]string, len(spans))
	for i, s := range spans {
		if s.Name == "" {
			s.Name = samples.SpanName
		}
		list[i] = fmt.Sprintf(`{"traceId":"%s","spanId":"%016x","parentSpanId":%q,"flags":257,"name":%q,"kind":1,`+
			`"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"thread.name","value":{"stringValue":"main"}},`+
			`{"key":"thread.id","value":{"intValue":"1"}}],"status":{}}`,
			samples.HexTrace(s), s.ID, samples.HexID(s.Parent), s.Name, s.Start, s.End)
	}
	return []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"tracetax"}}]},` +
		`"scopeSpans":[{"scope":{"name":"x"},"spans":[` + strings.Join(list, ",") + `]}]}]}`)
}

func countJSONSpans(depth int, messages ...[]byte) account.Account {
	return sinktest.CountJSON(depth, newJSONWalks, messages...)
}

// connectGRPC greets the sink as a client does, with the settings given.
func connectGRPC(t *testing.T, r *sinktest.Running, settings ...http2.Setting) *grpctest.Peer {
	t.Helper()
	return grpctest.Greet(t, r.Dial("otlp-grpc"), settings...)
}

// expectService checks that the sink still counts what others send.
func expectService(t *testing.T, r *sinktest.Running) {
	t.Helper()
	p := connectGRPC(t, r)
	p.Call(1, samples.ExportRequest(samples.CallSpans(1, 10)...), 1000)
	p.Expect(1, "0")
}

func countSpans(depth int, requests ...[]byte) account.Account {
	l := ledger.New(tree.NewTable(&tree.SpanChain{}, depth, 1000, 8<<20), signals)
	walk := newWalk(samples.SpanName, l)
	for _, request := range requests {
		if walk.request(request) != nil {
			walk.batch.Malformed++
		}
		l.Apply(walk.batch)
	}
	return l.Close()
}

func startGRPC(t *testing.T, arguments ...string) (*sinktest.Running, *grpc.ClientConn) {
	t.Helper()
	r := sinktest.Start(t, protocol.Table{"otlp-grpc": GRPC}, append([]string{"--protocols", "otlp-grpc", "--depth", "10", "--record-name", samples.SpanName}, arguments...)...)
	return r, grpctest.Client(t, r.Ports["otlp-grpc"])
}

// http2Client speaks HTTP/2 without gRPC's care for what it sends.
func http2Client(t *testing.T) *http.Client {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func startHTTP(t *testing.T, arguments ...string) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, protocol.Table{"otlp-http": HTTP}, append([]string{"--protocols", "otlp-http", "--depth", "10", "--record-name", samples.SpanName}, arguments...)...)
}
