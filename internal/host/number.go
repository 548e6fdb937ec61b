package host

import "strconv"

// number reads a decimal of up to 64 bits.
func number(b []byte) (n uint64, ok bool) {
	n, err := strconv.ParseUint(string(b), 10, 64)
	return n, err == nil
}
