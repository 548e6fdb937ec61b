package journal

import (
	"errors"
	"fmt"
)

// Flags of a data object: how its payload is compressed.
const (
	objectXZ = 1 << iota
	objectLZ4
	objectZSTD
	objectCompressed = objectXZ | objectLZ4 | objectZSTD
)

var errCompression = errors.New("more than one compression, or one that is not known")

// decompress appends at most limit bytes of a payload to dst; more says that there are more.
func (d *zstdDecoder) decompress(flags byte, dst, src []byte, limit int) (out []byte, more bool, err error) {
	// The libraries read what anybody may have written into the file. A mistake of theirs costs
	// one field, not the program.
	defer func() {
		if p := recover(); p != nil {
			out, more, err = dst, false, fmt.Errorf("decompress: %v", p)
		}
	}()
	switch flags {
	case objectLZ4:
		return lz4(dst, src, limit)
	case objectZSTD:
		return d.decode(dst, src, limit)
	case objectXZ:
		return xz(dst, src, limit)
	default:
		return dst, false, errCompression
	}
}

// rawLimit is how much of a compressed payload is needed for its first limit bytes. No compressor
// makes data longer by more than a few bytes per block.
func rawLimit(limit int) int64 { return int64(limit) + int64(limit)/128 + 64<<10 }
