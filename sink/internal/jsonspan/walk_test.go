package jsonspan

import (
	"strings"
	"testing"

	"tracetax/sink/internal/tree"
)

func TestIdsAreHexadecimal(t *testing.T) {
	const trace, id = "0123456789abcdefFEDCBA9876543210", "00000000000000ff"
	for _, c := range []struct {
		trace, id, parent string
		valid             bool
	}{
		{trace, id, "", true}, {trace[16:], id, id, true}, {trace, id, "0000000000000000", true},
		{trace[1:], id, "", false}, {trace, id[1:], "", false}, {trace, id, "1", false}, {"", id, "", false},
		{strings.Repeat("0", 32), id, "", false}, {trace, strings.Repeat("0", 16), "", false},
		{trace[:31] + "g", id, "", false}, {trace, "00000000000000f ", "", false}, {trace, id, "x000000000000000", false},
	} {
		var r tree.Record
		if place(&r, []byte(c.trace), []byte(c.id), []byte(c.parent)) != c.valid {
			t.Errorf("%+v", c)
		}
	}
	var r tree.Record
	place(&r, []byte(trace), []byte(id), []byte("000000000000001A"))
	if want := (tree.Record{Tree: tree.Key{Hi: 0x0123456789abcdef, Lo: 0xfedcba9876543210}, Node: tree.Node{ID: 255, Up: 26}}); r != want {
		t.Errorf("%+v", r)
	}
}
