package journal

import (
	"encoding/binary"
	"math/bits"
)

// lookup3 is Bob Jenkins' hashlittle2 with seeds of zero, the first result in the upper half. It is
// the hash of files without the flag KEYED_HASH, and of the xor_hash of entries in all files.
func lookup3(p []byte) uint64 {
	if len(p) == 0 {
		return 0xdeadbeef_deadbeef
	}
	a := 0xdeadbeef + uint32(len(p))
	b, c := a, a
	for ; len(p) > 12; p = p[12:] {
		a += binary.LittleEndian.Uint32(p)
		b += binary.LittleEndian.Uint32(p[4:])
		c += binary.LittleEndian.Uint32(p[8:])
		a, b, c = lookup3Mix(a, b, c)
	}
	var last [12]byte // the rest, filled up with zeros
	copy(last[:], p)
	a += binary.LittleEndian.Uint32(last[:])
	b += binary.LittleEndian.Uint32(last[4:])
	c += binary.LittleEndian.Uint32(last[8:])
	b, c = lookup3Final(a, b, c)
	return uint64(c)<<32 | uint64(b)
}

func lookup3Mix(a, b, c uint32) (uint32, uint32, uint32) {
	a = (a - c) ^ bits.RotateLeft32(c, 4)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 6)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 8)
	b += a
	a = (a - c) ^ bits.RotateLeft32(c, 16)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 19)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

func lookup3Final(a, b, c uint32) (uint32, uint32) {
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	c = (c ^ b) - bits.RotateLeft32(b, 24)
	return b, c
}
