package otlp

import (
	"testing"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/samples"
)

func FuzzGRPC(f *testing.F) {
	request := samples.ExportRequest(samples.CallSpans(1, 3)...)
	f.Add(grpctest.ConnectionBytes(nil, func(p *grpctest.Peer) {
		p.Call(1, request, 100)
		p.Call(3, request, 1<<20)
	}), uint16(9))
	f.Add(grpctest.ConnectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize}}, func(p *grpctest.Peer) {
		p.Call(1, request, 1<<20)
		p.Framer.WriteDataPadded(1, false, nil, make([]byte, 9))
		p.Framer.WriteWindowUpdate(1, 5)
		p.Headers(3, false, "grpc-encoding", "gzip")
		p.Framer.WriteData(3, false, append([]byte{1}, grpctest.Framed(request)[1:]...))
		p.Framer.WritePing(false, [8]byte{})
		p.Headers(5, false)
		p.Framer.WriteData(5, false, grpctest.Framed(request)[:40])
		p.Framer.WriteRSTStream(5, http2.ErrCodeCancel)
		p.Headers(7, false, "x", string(make([]byte, 2*grpctest.PeerFrame)))
		p.Framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000})
	}), uint16(1000))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := grpctest.CountConnection(t, GRPC, samples.SpanName, 3, data, len(data))
		samples.CheckTrees(t, 3, whole)
		if whole.Bytes > int64(len(data)) {
			t.Fatalf("%d bytes are %+v", len(data), whole)
		}
		inPieces := grpctest.CountConnection(t, GRPC, samples.SpanName, 3, data, int(piece)+1)
		if inPieces.Requests != whole.Requests || inPieces.Bytes != whole.Bytes {
			t.Fatalf("whole %+v, in pieces %+v", whole, inPieces)
		}
		whole.Requests, whole.Bytes, whole.FirstArrivalNs, whole.LastArrivalNs = 0, 0, 0, 0
		samples.ExpectCount(t, inPieces, whole)
	})
}

func FuzzOTLPJSON(f *testing.F) {
	f.Add(jsonRequest(samples.CallSpans(1, 3)...))
	f.Add(jsonRequest(samples.Span{Trace: 1, ID: 2, Name: "other"}, samples.Span{Trace: 1, ID: 1, Start: 3}))
	f.Fuzz(func(t *testing.T, data []byte) { samples.CheckMessage(t, data, countJSONSpans) })
}

func FuzzOTLP(f *testing.F) {
	f.Add(samples.ExportRequest(samples.CallSpans(1, 3)...))
	f.Add(samples.ExportRequest(samples.Span{Trace: 1, ID: 2, Name: "other"}, samples.Span{Trace: 1, ID: 1, Start: 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		once := countSpans(3, data)
		samples.CheckTrees(t, 3, once)
		twice := countSpans(3, data, data)
		// A span that comes again is a duplicate, unless its tree was evicted.
		if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
			t.Fatalf("once %+v, twice %+v", once, twice)
		}
	})
}
