package jsonscan

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

// Hex returns the value of up to 16 hexadecimal digits, and whether there were no others.
func Hex(digits []byte) (value uint64, ok bool) {
	seen := byte(0)
	for _, c := range digits {
		digit := hexDigits[c]
		seen |= digit
		value = value<<4 | uint64(digit&0xf)
	}
	return value, seen < 0x10
}
