package main

import (
	"testing"

	"golang.org/x/net/http2"
)

func FuzzPinpoint(f *testing.F) {
	name := apiNameMessage(testAPI, testAPIName)
	f.Add(pinpointCalls(1, 3, 20)[0], name)
	f.Add(pinpointCalls(1, 3, 2)[0], name)
	f.Add(pinpointMessage(pinpointSpan{id: 1, events: []pinpointEvent{{}, {sequence: -1, depth: -3, elapsed: -1, api: -7}}}), name)
	f.Fuzz(func(t *testing.T, span, name []byte) {
		names, spans := [][]byte{name}, [][]byte{span}
		once := countPinpoint(3, names, spans, nil)
		checkTrees(t, 3, once)
		timeless := once
		timeless.Requests, timeless.Bytes, timeless.FirstArrivalNs, timeless.LastArrivalNs = 0, 0, 0, 0
		expectCount(t, countPinpoint(3, nil, spans, names), timeless)
		twice := countPinpoint(3, names, append(spans, span), nil)
		// What comes again is duplicate, unless its tree was evicted.
		if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
			t.Fatalf("once %+v, twice %+v", once, twice)
		}
	})
}

// FuzzPinpointConnection is for what a whole connection brings, over all services.
func FuzzPinpointConnection(f *testing.F) {
	f.Add(connectionBytes([]http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 1000}}, func(p *grpcPeer) {
		for stream, sent := range []struct {
			path    string
			message []byte
		}{
			{sendAgent, []byte("x")}, {pingSession, nil}, {takeCommands, []byte("y")}, {sendSpan, pinpointCalls(1, 3, 20)[0]},
			{sendAPIName, apiNameMessage(testAPI, testAPIName)}, {sendStat, []byte("z")},
		} {
			p.path = sent.path
			p.headers(uint32(2*stream+1), false)
			p.framer.WriteData(uint32(2*stream+1), stream == 0 || stream == 4, framed(sent.message))
		}
	}), uint16(9))
	f.Fuzz(func(t *testing.T, data []byte, piece uint16) {
		whole := countConnection(t, pinpoint, testMethod, 3, data, len(data))
		checkTrees(t, 3, whole)
		inPieces := countConnection(t, pinpoint, testMethod, 3, data, int(piece)+1)
		whole.Requests, whole.Bytes, whole.FirstArrivalNs, whole.LastArrivalNs = 0, 0, 0, 0
		expectCount(t, inPieces, whole)
	})
}
