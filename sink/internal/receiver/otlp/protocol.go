// Package otlp is the OpenTelemetry Protocol, over HTTP and over gRPC.
package otlp

import (
	"tracetax/sink/internal/grpcserver"
	"tracetax/sink/internal/httpserver"
	"tracetax/sink/internal/ledger"
	"tracetax/sink/internal/protocol"
	"tracetax/sink/internal/tree"
)

// traces is the signal whose messages carry records.
const traces = "traces"

// signals are carried besides.
var signals = []string{ledger.Metrics, ledger.Logs}

// HTTP is OTLP over HTTP/1.1 with bodies in protobuf or JSON. Messages carry spans, which are counted, or metrics
// and logs, which are answered.
var HTTP = protocol.Protocol{
	Signals:         signals,
	ConnectionBytes: httpserver.ConnectionBytes,
	AnyName:         true,
	Structure:       func() tree.Structure { return &tree.SpanChain{} },
	Receiver:        newHTTP,
}

// GRPC is OTLP over gRPC: unary calls of three services.
var GRPC = protocol.Protocol{
	Signals:         signals,
	ConnectionBytes: grpcserver.ConnectionBytes,
	AnyName:         true,
	Structure:       func() tree.Structure { return &tree.SpanChain{} },
	Receiver:        newGRPC,
}
