package records

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// headSize is how much of a file is looked at before it is read: what it is, and which
// year and zone its stamps are of.
const headSize = 256 << 10

var (
	errBinary  = errors.New("it is binary")
	errJournal = errors.New("it is a binary journal: give the output of journalctl -o export instead")
	errNested  = errors.New("it is packed too often")
)

// unpacked takes the compression off a stream, and gives its beginning. The first layer is
// read with b, which must have room for that.
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

// maxWindow bounds what a stranger's file makes the decoder hold.
const maxWindow = 64 << 20

// zstdReader takes zstd's compression off. With one at a time it needs no closing.
func zstdReader(r io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return d, nil
}

// isTar tells by its beginning whether a file is a bundle of others.
func isTar(head []byte) bool {
	return len(head) >= 512 && bytes.HasPrefix(head[257:], []byte("ustar"))
}

// asLines gives a file's lines, or says why it has none.
func asLines(b *bufio.Reader, head []byte) (r io.Reader, export bool, err error) {
	switch {
	case isExport(head):
		return &exportReader{r: b}, true, nil
	case bytes.HasPrefix(head, []byte("LPKSHHRH")):
		return nil, false, errJournal
	case bytes.IndexByte(head[:min(len(head), 4<<10)], 0) >= 0:
		return nil, false, errBinary
	default:
		return b, false, nil
	}
}

// bundled calls each with the files of a bundle, one after the other as they come.
func bundled(r io.Reader, each func(*tar.Header, io.Reader)) error {
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("next file of the bundle: %w", err)
		}
		if h.Typeflag == tar.TypeReg {
			each(h, t)
		}
	}
}
