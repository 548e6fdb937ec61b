package journal

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

var errZSTD = errors.New("zstd frame is damaged")

// maxWindow bounds the memory for a frame that is longer than what is wanted of it. systemd
// compresses with the default level, whose window is 2 MiB; every decoder must allow 8 MiB.
const maxWindow = 8 << 20

// A zstdDecoder decompresses frames. Decoders run in the caller's goroutine and need no Close.
type zstdDecoder struct {
	whole  *zstd.Decoder // for frames of at most limit bytes
	prefix *zstd.Decoder // for the beginning of longer ones
	limit  int
}

// decode appends at most limit bytes of a frame to dst; more says that there are more.
func (d *zstdDecoder) decode(dst, src []byte, limit int) (out []byte, more bool, err error) {
	if d.whole == nil || d.limit != limit {
		d.limit = limit
		if d.whole, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(limit, 1)))); err != nil {
			return dst, false, fmt.Errorf("zstd: %w", err)
		}
	}
	out, err = d.whole.DecodeAll(src, dst)
	switch {
	case err == nil && len(out)-len(dst) <= limit:
		return out, false, nil
	case err == nil, errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return d.decodePrefix(dst, src, limit)
	default:
		return dst, false, fmt.Errorf("%w: %w", errZSTD, err)
	}
}

func (d *zstdDecoder) decodePrefix(dst, src []byte, limit int) (out []byte, more bool, err error) {
	if d.prefix == nil {
		if d.prefix, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderLowmem(true)); err != nil {
			return dst, false, fmt.Errorf("zstd: %w", err)
		}
	}
	if err := d.prefix.Reset(bytes.NewReader(src)); err != nil {
		return dst, false, fmt.Errorf("%w: %w", errZSTD, err)
	}
	return readLimited(dst, d.prefix, limit, errZSTD)
}
