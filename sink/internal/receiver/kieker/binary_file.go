package kieker

import (
	"bytes"
	"strconv"

	"tracetax/sink/internal/ledger"
)

// mapName is the file beside a log's data that holds its strings, a line "$id=text" for each.
const mapName = "kieker.map"

// mapNumberBytes is what stands in a line of the map besides the string: mark, number and equals sign.
const mapNumberBytes = 16

type binaryFile struct{ stream }

func (k *binaryFile) Begin() { k.broken = false }

// Entry takes a line of the map and reports whether it could be understood.
func (s *stream) Entry(line []byte, _ *ledger.Batch) bool {
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
