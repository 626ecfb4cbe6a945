package msgpack

import "testing"

func FuzzMsgpack(f *testing.F) {
	f.Add([]byte("\x91\x92\x82\xa1a\xcf\x00\x00\x00\x00\x00\x00\x00\x01\xa4meta\x81\xa1b\xa1c\x80"))
	f.Add([]byte{MpArray | 3, mpInt8, 0x80, mpBytes8, 1, 0, 0xc7, 1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		// Whatever is asked for, the scan goes on by at least a byte, stays inside, and stops for good at a fault.
		ask := []func(*Scan){
			func(s *Scan) { s.Skip() },
			func(s *Scan) { s.Text() },
			func(s *Scan) { s.Number() },
			func(s *Scan) { s.Array() },
			func(s *Scan) { s.Pairs() },
		}
		for _, step := range ask {
			s := Scan{Data: data}
			for at := 0; !s.Ended() && !s.Failed; at = s.At {
				if step(&s); s.At <= at || s.At > len(data) {
					t.Fatalf("from %d to %d of %d", at, s.At, len(data))
				}
			}
			if step(&s); s.Failed && s.At != len(data) {
				t.Fatalf("goes on at %d after a fault", s.At)
			}
		}
	})
}
