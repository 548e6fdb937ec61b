package scrub

// decode appends decoded base64 of either alphabet, as far as dst has room. Line breaks are
// skipped.
func decode(dst, coded []byte) []byte {
	var bits, have uint
	for _, c := range coded {
		v, ok := sextet(c)
		if !ok {
			continue
		}
		bits, have = bits<<6|v, have+6
		if have < 8 {
			continue
		}
		if len(dst) == cap(dst) {
			break
		}
		have -= 8
		dst = append(dst, byte(bits>>have))
	}
	return dst
}

func sextet(c byte) (uint, bool) {
	switch {
	case c >= 'A' && c <= 'Z':
		return uint(c - 'A'), true
	case c >= 'a' && c <= 'z':
		return uint(c-'a') + 26, true
	case c >= '0' && c <= '9':
		return uint(c-'0') + 52, true
	case c == '+' || c == '-':
		return 62, true
	case c == '/' || c == '_':
		return 63, true
	}
	return 0, false
}
