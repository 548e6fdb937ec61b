package journal

import (
	"encoding/binary"
	"errors"
)

var errLZ4 = errors.New("LZ4 block is damaged")

// lz4 decompresses what systemd stores as LZ4: the size as 64 bits, then one block. It appends to
// dst and stops after limit bytes; more says that there are more.
func lz4(dst, src []byte, limit int) (out []byte, more bool, err error) {
	if len(src) < 8 {
		return dst, false, errLZ4
	}
	want := binary.LittleEndian.Uint64(src)
	if more = want > uint64(limit); !more {
		limit = int(want)
	}
	out, rest, err := lz4Block(dst, src[8:], limit)
	if err == nil && (len(out)-len(dst) < limit || !more && rest > 0) {
		err = errLZ4
	}
	return out, more, err
}

// lz4Block appends at most limit bytes of a block, and gives how many of its bytes are left.
func lz4Block(dst, src []byte, limit int) (out []byte, rest int, err error) {
	start, end := len(dst), len(dst)+limit
	for len(src) > 0 && len(dst) < end {
		token := src[0]
		n, rest, ok := lz4Length(int(token>>4), src[1:])
		if !ok || n > len(rest) {
			return dst, 0, errLZ4
		}
		dst = append(dst, rest[:min(n, end-len(dst))]...)
		src = rest[n:]
		if len(src) == 0 || len(dst) >= end {
			break // the last sequence has no match
		}
		if len(src) < 2 {
			return dst, 0, errLZ4
		}
		back := int(binary.LittleEndian.Uint16(src))
		n, src, ok = lz4Length(int(token&15), src[2:])
		if !ok || back == 0 || back > len(dst)-start {
			return dst, 0, errLZ4
		}
		dst = lz4Match(dst, back, min(n+4, end-len(dst)))
	}
	return dst, len(src), nil
}

// lz4Length reads the bytes that continue a length of 15.
func lz4Length(n int, src []byte) (int, []byte, bool) {
	if n < 15 {
		return n, src, true
	}
	for i, c := range src {
		if n += int(c); c < 255 {
			return n, src[i+1:], true
		}
	}
	return 0, nil, false
}

// lz4Match appends n bytes from back bytes ago; the two may overlap.
func lz4Match(dst []byte, back, n int) []byte {
	for n > 0 {
		from := len(dst) - back
		m := min(n, back)
		dst = append(dst, dst[from:from+m]...)
		n -= m
	}
	return dst
}
