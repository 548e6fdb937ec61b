package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

var errXZ = errors.New("xz stream is damaged")

// xz decompresses an xz stream of one block, as systemd writes it: LZMA2 alone, without a check. It
// appends to dst and stops after limit bytes; more says that there are more. The container is read
// here because the memory that a dictionary needs must not depend on what the file says.
func xz(dst, src []byte, limit int) (out []byte, more bool, err error) {
	const header = 12 // of the stream: magic, flags, CRC
	if len(src) < header+2 || string(src[:6]) != "\xfd7zXZ\x00" {
		return dst, false, errXZ
	}
	block := src[header:]
	size := (int(block[0]) + 1) * 4
	if block[0] == 0 || size > len(block) || crc32.ChecksumIEEE(block[:size-4]) != binary.LittleEndian.Uint32(block[size-4:size]) {
		return dst, false, errXZ
	}
	want, _, err := xzBlock(block[1 : size-4])
	if err != nil {
		return dst, false, err
	}
	// A match reaches no further back than what was decompressed before it.
	dict := limit + 1
	if want >= 0 && want < int64(dict) {
		dict = int(want)
	}
	r, err := lzma.Reader2Config{DictCap: max(dict, lzma.MinDictCap)}.NewReader2(bytes.NewReader(block[size:]))
	if err != nil {
		return dst, false, fmt.Errorf("%w: %w", errXZ, err)
	}
	return readLimited(dst, r, limit, errXZ)
}

// xzBlock reads flags, sizes and filters of a block's header. It gives the uncompressed size, or -1
// if the header does not say it, and the size of the dictionary.
func xzBlock(b []byte) (want, dict int64, err error) {
	flags, b := b[0], b[1:]
	want = -1
	var ok bool
	if flags&0x40 != 0 { // compressed size
		if _, b, ok = xzNumber(b); !ok {
			return 0, 0, errXZ
		}
	}
	if flags&0x80 != 0 {
		if want, b, ok = xzNumber(b); !ok {
			return 0, 0, errXZ
		}
	}
	const lzma2 = 0x21
	if flags&3 != 0 || len(b) < 3 || b[0] != lzma2 || b[1] != 1 {
		return 0, 0, fmt.Errorf("%w: not one LZMA2 filter", errXZ)
	}
	bits := b[2] & 63
	return want, (2 | int64(bits&1)) << (bits/2 + 11), nil
}

// xzNumber reads a number of seven bits per byte.
func xzNumber(b []byte) (int64, []byte, bool) {
	var v int64
	for i := range min(len(b), 9) {
		v |= int64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, nil, false
}

// readLimited appends at most limit bytes of r to dst, and says whether r has more.
func readLimited(dst []byte, r io.Reader, limit int, damaged error) (out []byte, more bool, err error) {
	buf := bytes.NewBuffer(dst)
	n, err := buf.ReadFrom(io.LimitReader(r, int64(limit)+1))
	out = buf.Bytes()
	if n > int64(limit) {
		return out[:len(out)-1], true, nil
	}
	if err != nil {
		return out, false, fmt.Errorf("%w: %w", damaged, err)
	}
	return out, false, nil
}
