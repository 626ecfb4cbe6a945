package scouter

import (
	"encoding/binary"
	"testing"

	"tracetax/sink/internal/samples"
)

// FuzzScouter takes several datagrams, each behind its length.
func FuzzScouter(f *testing.F) {
	behindLengths := func(datagrams ...[]byte) []byte {
		var all []byte
		for _, datagram := range datagrams {
			all = append(binary.BigEndian.AppendUint16(all, uint16(len(datagram))), datagram...)
		}
		return all
	}
	f.Add(behindLengths(append(scouterCall(packProfile, 1, 3), scouterNames)...), false)
	f.Add(behindLengths(append([][]byte{scouterNames}, scouterCall(packProfile2, 1, 3)...)...), true)
	f.Add(behindLengths(append(inParts(1, profilePack(packProfile, 1, callSteps(3)), 30), scouterNames)...), false)
	f.Add(behindLengths(packList(heartbeatPack(), textPack("method", "x()V")), packList(counterPack())), false)
	f.Fuzz(func(t *testing.T, data []byte, services bool) {
		var datagrams [][]byte
		for rest := data; len(rest) >= 2; {
			size := min(int(binary.BigEndian.Uint16(rest)), len(rest)-2)
			datagrams = append(datagrams, rest[2:2+size])
			rest = rest[2+size:]
		}
		name := samples.Method
		if services {
			name = servicePrefix + name
		}
		once := count(t, 3, name, datagrams...)
		samples.CheckTrees(t, 3, once)
		// A step has 8 bytes at least, a part of a pack can be part of one pack only, and none has a second name.
		if most := int64(len(data) / 8); once.Records+once.Duplicates+once.UnexpectedNames > most {
			t.Fatalf("%d bytes are %+v", len(data), once)
		}
		if all := int64(len(datagrams)); once.Malformed > all || once.Requests > all || once.CutOff > all {
			t.Fatalf("%d datagrams are %+v", all, once)
		}
		var bytes int64
		for _, signal := range once.OtherBytes {
			bytes += signal
		}
		for _, datagram := range datagrams {
			bytes -= int64(len(datagram))
		}
		if bytes+once.Bytes != 0 {
			t.Fatalf("%d bytes too many are counted", bytes+once.Bytes)
		}
	})
}
