// Package receiver is the table of all protocols that the sink speaks. Each protocol, or family of protocols, has a
// folder here.
package receiver

import (
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/receiver/appinsights"
	"tracetax/sink/internal/receiver/datadog"
	"tracetax/sink/internal/receiver/elastic"
	"tracetax/sink/internal/receiver/floor"
	"tracetax/sink/internal/receiver/handlers"
	"tracetax/sink/internal/receiver/kieker"
	"tracetax/sink/internal/receiver/otlp"
	"tracetax/sink/internal/receiver/pinpoint"
	"tracetax/sink/internal/receiver/prometheus"
	"tracetax/sink/internal/receiver/scouter"
	"tracetax/sink/internal/receiver/skywalking"
	"tracetax/sink/internal/receiver/zipkin"
)

// Table are all that the sink speaks. To add one: a folder, a line here and one in protocols.txt. See README.md.
var Table = protocol.Table{
	"kieker-binary-file": kieker.BinaryFile,
	"kieker-dual-tcp":    kieker.DualTCP,
	"kieker-text-file":   kieker.TextFile,
	"kieker-tcp":         kieker.TCP,
	"otlp-http":          otlp.HTTP,
	"otlp-grpc":          otlp.GRPC,
	"zipkin":             zipkin.Protocol,
	"elastic":            elastic.Protocol,
	"floor":              floor.Protocol,
	"handlers-file":      handlers.File,
	"scouter":            scouter.Protocol,
	"pinpoint":           pinpoint.Protocol,
	"skywalking":         skywalking.Protocol,
	"prometheus":         prometheus.Protocol,
	"datadog":            datadog.Protocol,
	"app-insights":       appinsights.Protocol,
}
