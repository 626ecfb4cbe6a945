package pinpoint

import (
	"testing"

	"golang.org/x/net/http2"

	"tracetax/sink/internal/grpctest"
	"tracetax/sink/internal/samples"
)

func FuzzPinpoint(f *testing.F) {
	name := apiNameMessage(testAPI, testAPIName)
	f.Add(pinpointCalls(1, 3, 20)[0], name)
	f.Add(pinpointCalls(1, 3, 2)[0], name)
	f.Add(pinpointMessage(pinpointSpan{id: 1, events: []pinpointEvent{{}, {sequence: -1, depth: -3, elapsed: -1, api: -7}}}), name)
	f.Fuzz(func(t *testing.T, span, name []byte) {
		names, spans := [][]byte{name}, [][]byte{span}
		once := count(3, names, spans, nil)
		samples.CheckTrees(t, 3, once)
		timeless := once
		timeless.Requests, timeless.Bytes, timeless.FirstArrivalNs, timeless.LastArrivalNs = 0, 0, 0, 0
		samples.ExpectCount(t, count(3, nil, spans, names), timeless)
		twice := count(3, names, append(spans, span), nil)
		// What comes again is duplicate, unless its tree was evicted.
		if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
			t.Fatalf("once %+v, twice %+v", once, twice)
		}
	})
}

// FuzzPinpointConnection is for what a whole connection brings, over all services.
func FuzzPinpointConnection(f *testing.F) {
	f.Add(grpctest.ConnectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 1000}}, func(p *grpctest.Peer) {
		for stream, sent := range []struct {
			path    string
			message []byte
		}{
			{sendAgent, []byte("x")}, {pingSession, nil}, {takeCommands, []byte("y")}, {sendSpan, pinpointCalls(1, 3, 20)[0]},
			{sendAPIName, apiNameMessage(testAPI, testAPIName)}, {sendStat, []byte("z")},
		} {
			p.Path = sent.path
			p.Headers(uint32(2*stream+1), false)
			p.Framer.WriteData(uint32(2*stream+1), stream == 0 || stream == 4, grpctest.Framed(sent.message))
		}
	}), uint16(9))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := grpctest.CountConnection(t, Protocol, samples.Method, 3, data, len(data))
		samples.CheckTrees(t, 3, whole)
		inPieces := grpctest.CountConnection(t, Protocol, samples.Method, 3, data, int(piece)+1)
		whole.Requests, whole.Bytes, whole.FirstArrivalNs, whole.LastArrivalNs = 0, 0, 0, 0
		samples.ExpectCount(t, inPieces, whole)
	})
}
