package main

import (
	"bytes"
	"strconv"
)

// kiekerMapName is the file beside a log's data that holds its strings, a line "$id=text" for each.
const kiekerMapName = "kieker.map"

// mapNumberBytes is what stands in a line of the map besides the string: mark, number and equals sign.
const mapNumberBytes = 16

// kiekerBinaryFile is Kieker's binary log: the records of its stream without the strings, which stand in the map.
// What follows an unknown record in a file cannot be understood; the next file can.
var kiekerBinaryFile = protocol{
	structure: func() structure { return &executionChain{} },
	files: &fileFormat{
		extension: ".bin",
		mapName:   kiekerMapName,
		decoder: func(recordName string) fileDecoder {
			return &kiekerBinary{kiekerStream{recordName: recordName, registryGiven: true}}
		},
	},
}

type kiekerBinary struct{ kiekerStream }

func (k *kiekerBinary) begin() { k.broken = false }

// entry takes a line of the map and reports whether it could be understood.
func (s *kiekerStream) entry(line []byte, _ *batch) bool {
	number, text, found := bytes.Cut(line, []byte("="))
	if !found || len(number) < 2 || number[0] != '$' {
		return false
	}
	id, err := strconv.ParseUint(string(number[1:]), 10, 31)
	if err != nil || id >= maxStrings || !s.fits(len(text)) {
		return false
	}
	s.enter(int32(id), text)
	return true
}
