package main

// notHex marks what is no hexadecimal digit in hexDigits.
const notHex = 0xff

var hexDigits = func() (values [256]byte) {
	for i := range values {
		values[i] = notHex
	}
	for i := range byte(10) {
		values['0'+i] = i
	}
	for i := range byte(6) {
		values['a'+i], values['A'+i] = 10+i, 10+i
	}
	return values
}()

// hex returns the value of up to 16 hexadecimal digits, and whether there were no others.
func hex(digits []byte) (value uint64, ok bool) {
	seen := byte(0)
	for _, c := range digits {
		digit := hexDigits[c]
		seen |= digit
		value = value<<4 | uint64(digit&0xf)
	}
	return value, seen < 0x10
}

// placeHex sets where in which tree a span belongs whose ids are in hexadecimal digits, and reports whether they are
// valid: 16 or 32 digits for the trace, 16 for the span, not all 0. No parent is an empty id, or one of zeros.
func placeHex(r *record, traceID, spanID, parentID []byte) bool {
	if len(traceID) != 32 && len(traceID) != 16 || len(spanID) != 16 || len(parentID) != 16 && len(parentID) != 0 {
		return false
	}
	half := len(traceID) - 16
	hi, ok1 := hex(traceID[:half])
	lo, ok2 := hex(traceID[half:])
	id, ok3 := hex(spanID)
	up, ok4 := hex(parentID)
	r.tree, r.node = treeKey{hi: hi, lo: lo}, node{id: id, up: up}
	return ok1 && ok2 && ok3 && ok4 && r.tree != treeKey{} && r.node.id != 0
}
