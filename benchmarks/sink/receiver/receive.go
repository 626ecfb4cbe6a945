package main

import (
	"context"

	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
)

// maxMessage is raised from 4 MiB, which batches of 8,192 spans do not reach, for batches that do.
const maxMessage = 64 << 20

// spanCounter counts spans as their messages' own types show them. Calls come in sequence.
type spanCounter struct {
	traces.UnimplementedTraceServiceServer `json:"-"`
	Requests                               int64 `json:"requests"`
	Spans                                  int64 `json:"spans"`
}

func (s *spanCounter) server() *grpc.Server {
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage))
	traces.RegisterTraceServiceServer(server, s)
	metrics.RegisterMetricsServiceServer(server, noMetrics{})
	logs.RegisterLogsServiceServer(server, noLogs{})
	return server
}

// Export is the service's only method.
func (s *spanCounter) Export(_ context.Context, r *traces.ExportTraceServiceRequest) (*traces.ExportTraceServiceResponse, error) {
	s.Requests++
	for _, resource := range r.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			s.Spans += int64(len(scope.Spans))
		}
	}
	return &traces.ExportTraceServiceResponse{}, nil
}

type noMetrics struct {
	metrics.UnimplementedMetricsServiceServer
}

func (noMetrics) Export(context.Context, *metrics.ExportMetricsServiceRequest) (*metrics.ExportMetricsServiceResponse, error) {
	return &metrics.ExportMetricsServiceResponse{}, nil
}

type noLogs struct {
	logs.UnimplementedLogsServiceServer
}

func (noLogs) Export(context.Context, *logs.ExportLogsServiceRequest) (*logs.ExportLogsServiceResponse, error) {
	return &logs.ExportLogsServiceResponse{}, nil
}
