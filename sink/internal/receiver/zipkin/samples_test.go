package zipkin

import (
	"fmt"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
)

// listOf is what OpenTelemetry's exporter for Zipkin sends.
func listOf(spans ...samples.Span) []byte {
	list := make([]string, len(spans))
	for i, s := range spans {
		if s.Name == "" {
			s.Name = strings.ToLower(samples.SpanName)
		}
		parent := ""
		if s.Parent != 0 {
			parent = fmt.Sprintf(`"parentId":"%016x",`, s.Parent)
		}
		list[i] = fmt.Sprintf(`{"traceId":"%s",%s"id":"%016x","name":%q,"timestamp":1700000000000000,"duration":1,`+
			`"localEndpoint":{"serviceName":"tracetax","ipv4":"127.0.0.1"},"tags":{"code.function.name":"demo.MonitoredClass.monitoredMethod",`+
			`"otel.library.name":"io.opentelemetry.methods","otel.scope.name":"io.opentelemetry.methods","thread.id":"1","thread.name":"main"}}`,
			samples.HexTrace(s), parent, s.ID, s.Name)
	}
	return []byte("[" + strings.Join(list, ",") + "]")
}

func count(depth int, messages ...[]byte) account.Account {
	return sinktest.CountJSON(depth, newWalks, messages...)
}

func start(t *testing.T, arguments ...string) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, protocol.Table{"zipkin": Protocol}, append([]string{"--protocols", "zipkin", "--depth", "10", "--record-name", samples.SpanName}, arguments...)...)
}
