package records

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

var errNested = errors.New("archive or compression nested too deeply")

// packings are what a file may be packed in, by its first bytes.
var packings = []struct {
	begins string
	open   func(*bufio.Reader) (io.Reader, error)
}{
	{"\x1f\x8b", func(b *bufio.Reader) (io.Reader, error) { return gzip.NewReader(b) }},
	{"\x28\xb5\x2f\xfd", zstdReader},
	{"BZh", func(b *bufio.Reader) (io.Reader, error) { return bzip2.NewReader(b), nil }},
	{"\xfd7zXZ\x00", journal.NewXZReader},
	{"\xff\xfe", utf16(unicode.LittleEndian)},
	{"\xfe\xff", utf16(unicode.BigEndian)},
	{"\xef\xbb\xbf", func(b *bufio.Reader) (io.Reader, error) { _, err := b.Discard(3); return b, err }},
}

// unpacked decompresses a stream, up to two layers, and gives its beginning. The first layer is
// read with b, whose buffer must have headSize bytes.
func unpacked(r io.Reader, b *bufio.Reader) (*bufio.Reader, []byte, error) {
	for layer := range 4 {
		if layer == 0 {
			b.Reset(r)
		} else {
			b = bufio.NewReaderSize(r, headSize)
		}
		head, err := b.Peek(headSize)
		if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
			return nil, nil, err
		}
		r = nil
		for _, p := range packings {
			if bytes.HasPrefix(head, []byte(p.begins)) {
				if r, err = p.open(b); err != nil {
					return nil, nil, fmt.Errorf("unpack: %w", err)
				}
			}
		}
		if r == nil {
			return b, head, nil
		}
	}
	return nil, nil, errNested
}

// maxWindow bounds the memory that an untrusted file makes the decoder use.
const maxWindow = 64 << 20

// zstdReader decompresses zstd. With a concurrency of one it needs no Close.
func zstdReader(b *bufio.Reader) (io.Reader, error) {
	return zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderLowmem(true))
}

// utf16 is how PowerShell writes files.
func utf16(order unicode.Endianness) func(*bufio.Reader) (io.Reader, error) {
	return func(b *bufio.Reader) (io.Reader, error) {
		return unicode.UTF16(order, unicode.UseBOM).NewDecoder().Reader(b), nil
	}
}
