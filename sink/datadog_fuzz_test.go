package main

import "testing"

func FuzzDatadog(f *testing.F) {
	for _, format := range datadogFormats {
		f.Add(format.write(callSpans(1, 3), callSpans(2, 3)))
		f.Add(format.write([]span{{trace: 1, id: 2, name: "other"}, {trace: 1, id: 1, start: 3}}))
	}
	f.Add([]byte{mpArray | 1, mpArray32, 0xff, 0xff, 0xff, 0xff, mpMap32})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range datadogFormats {
			once := countDatadog(3, format.read, data)
			checkTrees(t, 3, once)
			// Each span takes at least a byte.
			if all := once.Records + once.UnexpectedNames + once.Duplicates; all > int64(len(data)) {
				t.Fatalf("%d bytes are %+v", len(data), once)
			}
			twice := countDatadog(3, format.read, data, data)
			if twice.EvictedTrees == 0 && (twice.Records != once.Records || twice.Duplicates != 2*once.Duplicates+once.Records) {
				t.Fatalf("once %+v, twice %+v", once, twice)
			}
		}
	})
}

func FuzzMsgpack(f *testing.F) {
	f.Add(mappedTraces(callSpans(1, 2)))
	f.Add([]byte{mpArray | 3, mpInt8, 0x80, mpBytes8, 1, 0, 0xc7, 1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		// Whatever is asked for, the scan goes on by at least a byte, stays inside, and stops for good at a fault.
		ask := []func(*msgpackScan){
			func(s *msgpackScan) { s.skip() },
			func(s *msgpackScan) { s.text() },
			func(s *msgpackScan) { s.number() },
			func(s *msgpackScan) { s.array() },
			func(s *msgpackScan) { s.pairs() },
		}
		for _, step := range ask {
			s := msgpackScan{data: data}
			for at := 0; !s.ended() && !s.failed; at = s.at {
				if step(&s); s.at <= at || s.at > len(data) {
					t.Fatalf("from %d to %d of %d", at, s.at, len(data))
				}
			}
			if step(&s); s.failed && s.at != len(data) {
				t.Fatalf("goes on at %d after a fault", s.at)
			}
		}
	})
}
