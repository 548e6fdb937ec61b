package records

import (
	"encoding/binary"
	"math/bits"
)

// Digits are read eight bytes at once, the first in the lowest byte. Loops
// whose length differs from line to line are slow: the processor cannot predict them.
const (
	zeros   = 0x3030303030303030
	clocked = 0x30303a30303a3030 // 00:00:00
	dayed   = 0x2d30302d30303030 // 0000-00-
)

// digits gives the eight bytes at the beginning of b less those of like, and a bit for each
// of them that is no digit then.
func digits(b []byte, like uint64) (d, odd uint64) {
	const above9, high = 0x7676767676767676, 0x8080808080808080
	d = binary.LittleEndian.Uint64(b) ^ like
	return d, (d | (d + above9)) & high
}

// shaped gives the digits at the beginning of b, if it looks like clocked or dayed.
func shaped(b []byte, like uint64) (d uint64, ok bool) {
	d, odd := digits(b, like)
	between := (like >> 3 & 0x0101010101010101) * 0xff // ':' and '-' have a bit that '0' has not
	return d, odd == 0 && d&between == 0
}

// two gives the number that two digits are, from a byte on.
func two(d uint64, from int) int {
	d >>= 8 * from
	return int(d&0xff)*10 + int(d>>8&0xff)
}

// digits2 reads two digits, and gives -1 if there are none.
func digits2(b []byte, i int) int {
	x, y := b[i]-'0', b[i+1]-'0'
	if x > 9 || y > 9 {
		return -1
	}
	return int(x)*10 + int(y)
}

// number reads a number of at most nine digits at the beginning of b, and gives how many
// there are, 0 if it is none.
func number(b []byte) (value, length int) {
	if len(b) >= 8 {
		if d, odd := digits(b, zeros); odd != 0 {
			n := bits.TrailingZeros64(odd) / 8
			return wholeFile(d << (64 - 8*n)), n
		}
	}
	for length < len(b) && b[length]-'0' <= 9 {
		value = value*10 + int(b[length]-'0')
		if length++; length > 9 {
			return 0, 0
		}
	}
	return value, length
}

// wholeFile gives the number that eight digits are: pairs of them first, then pairs of pairs.
func wholeFile(d uint64) int {
	const pair = 0x000000ff000000ff
	d = d*10 + d>>8
	return int((d&pair*(100+1000000<<32) + d>>16&pair*(1+10000<<32)) >> 32)
}
