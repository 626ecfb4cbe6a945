package main

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func BenchmarkSegmentSpan(b *testing.B) {
	const depth = 10
	segment := segmentBytes(callSegment(0, depth))
	// The text of an id is not looked at: its last eight bytes are the number of the call.
	number := bytes.LastIndex(segment, []byte("17600000000000000")) + 9
	l := newLedger(newTreeTable(skyWalking.structure(), depth, defaultMaxOpenTrees, 384<<20), skyWalking.signals)
	walk := newSegmentWalk(testSpan, testSeeds, l)
	call, counted := uint64(0), 0
	var cpu cpuTime
	b.SetBytes(int64(len(segment) / depth))
	for b.Loop() {
		if counted%(400*depth) == 0 {
			cpu.begin()
			for range 400 {
				call++
				binary.BigEndian.PutUint64(segment[number:], call)
				if walk.segment(segment) != nil {
					b.Fatal("malformed")
				}
				l.apply(walk.batch)
			}
			cpu.end()
		}
		counted++
	}
	cpu.report(b, counted)
	if c := l.close(); c.CompleteTrees != int64(call) {
		b.Fatalf("%d segments are %+v", call, c)
	}
}
