package records

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// headSize is how much of a file's beginning is used to find its format and the year and zone of
// its timestamps.
const headSize = 256 << 10

var (
	errBinary = errors.New("binary file")
	errNested = errors.New("archive or compression nested too deeply")
)

// unpacked decompresses a stream, up to two layers, and gives its beginning. The first layer is
// read with b, whose buffer must have headSize bytes.
func unpacked(r io.Reader, b *bufio.Reader) (*bufio.Reader, []byte, error) {
	for layer := range 3 {
		if layer == 0 {
			b.Reset(r)
		} else {
			b = bufio.NewReaderSize(r, headSize)
		}
		head, err := b.Peek(headSize)
		if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
			return nil, nil, err
		}
		switch {
		case bytes.HasPrefix(head, []byte("\x1f\x8b")):
			if r, err = gzip.NewReader(b); err != nil {
				return nil, nil, fmt.Errorf("gzip: %w", err)
			}
		case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
			if r, err = zstdReader(b); err != nil {
				return nil, nil, err
			}
		default:
			return b, head, nil
		}
	}
	return nil, nil, errNested
}

// maxWindow bounds the memory that an untrusted file makes the decoder use.
const maxWindow = 64 << 20

// zstdReader decompresses zstd. With a concurrency of one it needs no Close.
func zstdReader(r io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return d, nil
}

// isTar reports by its beginning whether a file is a tar archive.
func isTar(head []byte) bool {
	return len(head) >= 512 && bytes.HasPrefix(head[257:], []byte("ustar"))
}

// asLines gives a reader of a file's lines, or an error if the file is neither text nor a journal
// file. If whole is not nil, it is the same file, not compressed.
func asLines(ctx context.Context, b *bufio.Reader, head []byte, whole io.Reader) (r io.Reader, export bool, err error) {
	switch {
	case isExport(head):
		return &exportReader{r: b}, true, nil
	case bytes.HasPrefix(head, []byte("LPKSHHRH")):
		j, err := newJournalReader(ctx, b, whole)
		return j, true, err
	case bytes.IndexByte(head[:min(len(head), 4<<10)], 0) >= 0:
		return nil, false, errBinary
	default:
		return b, false, nil
	}
}

// bundled calls each with the regular files of a tar archive, in order.
func bundled(r io.Reader, each func(*tar.Header, io.Reader)) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("next file of the tar archive: %w", err)
		}
		if h.Typeflag == tar.TypeReg {
			each(h, t)
		}
	}
}
