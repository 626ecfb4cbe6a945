package main

import (
	"bufio"
	"encoding/binary"
	"os"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

const (
	tracesExport  = "opentelemetry.proto.collector.trace.v1.TraceService/Export"
	metricsExport = "opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
)

// recorder writes every message of the trace service to a file: its length in 4 bytes, big endian, and its bytes.
type recorder struct {
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"`

	mu   sync.Mutex
	file *os.File
	to   *bufio.Writer
}

func newRecorder(path string) (*recorder, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &recorder{file: file, to: bufio.NewWriterSize(file, 1<<20)}, nil
}

func (r *recorder) server() *grpc.Server {
	return grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.ForceServerCodecV2(raw{}),
		grpc.UnknownServiceHandler(r.call))
}

// call takes the one message of a call to any service and answers with an empty one.
func (r *recorder) call(_ any, stream grpc.ServerStream) error {
	var message []byte
	if err := stream.RecvMsg(&message); err != nil {
		return err
	}
	method, _ := grpc.MethodFromServerStream(stream)
	if strings.HasSuffix(method, tracesExport) {
		if err := r.write(message); err != nil {
			return err
		}
	}
	return stream.SendMsg(&[]byte{})
}

func (r *recorder) write(message []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Requests++
	r.Bytes += int64(len(message))
	if _, err := r.to.Write(binary.BigEndian.AppendUint32(nil, uint32(len(message)))); err != nil {
		return err
	}
	_, err := r.to.Write(message)
	return err
}

func (r *recorder) close() error {
	if err := r.to.Flush(); err != nil {
		return err
	}
	return r.file.Close()
}

// raw lets messages pass as bytes.
type raw struct{ encoding.CodecV2 }

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
