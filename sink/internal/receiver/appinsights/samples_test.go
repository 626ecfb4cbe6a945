package appinsights

import (
	"fmt"
	"strings"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/samples"
	"tracetax/sink/internal/sinktest"
)

// itemOf is what the agent sends of a span: the outermost one as a request, the others as dependencies.
func itemOf(s samples.Span) string {
	if s.Name == "" {
		s.Name = samples.SpanName
	}
	item, kind, parent := "RemoteDependency", `"type":"InProc",`, fmt.Sprintf(`,"ai.operation.parentId":"%016x"`, s.Parent)
	if s.Parent == 0 {
		item, kind, parent = "Request", `"responseCode":"0",`, ""
	}
	return fmt.Sprintf(`{"ver":1,"name":%q,"time":"2026-11-21T21:40:18.004Z","iKey":"00000000-0000-0000-0000-000000000001",`+
		`"tags":{"ai.internal.sdkVersion":"java:3.5.3","ai.operation.id":"%s","ai.cloud.roleInstance":"host",`+
		`"ai.operation.name":"MonitoredClass.monitoredMethod","ai.cloud.role":"tracetax"%s},"data":{"baseType":"%sData",`+
		`"baseData":{"ver":2,"id":"%016x","name":%q,%s"duration":"00:00:00.000057","success":true}}}`+"\n",
		item, samples.HexTrace(s), parent, item, s.ID, s.Name, kind)
}

const metricItem = `{"ver":1,"name":"Metric","time":"2026-11-21T21:40:26.763Z","iKey":"x","tags":{"ai.cloud.role":"tracetax"},` +
	`"data":{"baseType":"MetricData","baseData":{"ver":2,"metrics":[{"name":"Current Thread Count","value":27.0}]}}}` + "\n"

func itemsOf(spans ...samples.Span) []byte {
	var items strings.Builder
	for _, s := range spans {
		items.WriteString(itemOf(s))
	}
	return []byte(items.String())
}

func count(depth int, messages ...[]byte) account.Account {
	return sinktest.CountJSON(depth, newWalks, messages...)
}

func start(t *testing.T) *sinktest.Running {
	t.Helper()
	return sinktest.Start(t, protocol.Table{"app-insights": Protocol}, "--protocols", "app-insights", "--depth", "10", "--record-name", samples.SpanName)
}
