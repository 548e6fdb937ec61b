package pick

// hasAddress tells that an address stands in a line, whole: not as the beginning or end of
// another one. A port, a prefix length or the end of a sentence may follow.
func hasAddress(line, ip []byte, v6 bool) bool {
	digit, joint := decimal, byte('.')
	if v6 {
		digit, joint = colonHex, ':'
	}
	for at := range places(line, ip) {
		if beginsAddress(line, at, joint, digit) && endsAddress(line, at+len(ip), joint, digit) {
			return true
		}
	}
	return false
}

func decimal(c byte) bool  { return c >= '0' && c <= '9' }
func colonHex(c byte) bool { return isHex(c) || c >= 'A' && c <= 'F' || c == ':' }

func beginsAddress(line []byte, at int, joint byte, digit func(byte) bool) bool {
	switch {
	case at == 0 || line[at-1] == '-':
		return true
	case line[at-1] == joint:
		return at > 1 && !digit(line[at-2])
	}
	return beginsLabel(line, at)
}

func endsAddress(line []byte, end int, joint byte, digit func(byte) bool) bool {
	switch {
	case end == len(line):
		return true
	case line[end] == joint:
		return end+1 == len(line) || !digit(line[end+1])
	}
	return !alnum(line[end])
}
