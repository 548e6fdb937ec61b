package records

import "encoding/binary"

// names caches the few names that lines repeat (nodes, programs, source files), so that a name
// needs no allocation. Each name has two slots; the one used less recently is replaced.
type names [2048]string

func (n *names) of(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	at := seat(b) &^ 1
	first, second := &n[at], &n[at+1]
	if *first == string(b) {
		return *first
	}
	if *second == string(b) {
		*first, *second = *second, *first
		return *first
	}
	*first, *second = string(b), *first
	return *first
}

// seat hashes a name's length, beginning and end.
func seat(b []byte) uint64 {
	const prime = 0x9e3779b97f4a7c15
	h := uint64(len(b))
	if len(b) >= 8 {
		h ^= binary.LittleEndian.Uint64(b)*prime ^ binary.LittleEndian.Uint64(b[len(b)-8:])
	} else {
		for _, c := range b {
			h = h<<8 | uint64(c)
		}
	}
	return h * prime >> 53
}
