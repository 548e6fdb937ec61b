package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	xzfile "github.com/ulikunitz/xz"
)

// maxDictionary bounds the memory that an xz file makes its reader use: xz -9 uses 64 MiB.
const maxDictionary = 128 << 20

// NewXZReader decompresses a whole file. Its first block must not need too much memory.
func NewXZReader(b *bufio.Reader) (io.Reader, error) {
	const header, most = 12, 1024 // of the stream, and of a block's header
	head, _ := b.Peek(header + most)
	if len(head) <= header {
		return nil, errXZ
	}
	if size := (int(head[header]) + 1) * 4; head[header] != 0 && header+size <= len(head) {
		_, dict, err := xzBlock(head[header+1 : header+size-4])
		if err == nil && dict > maxDictionary {
			err = fmt.Errorf("xz: needs %d MiB of memory", dict>>20)
		}
		if err != nil {
			return nil, err
		}
	}
	from := &ending{r: b}
	x, err := xzfile.NewReader(from)
	if err != nil {
		return nil, err
	}
	return &xzFile{x, from}, nil
}

// An ending remembers the last two bytes of what was read, without the zeros after them.
type ending struct {
	r    io.Reader
	last [2]byte
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	for _, c := range p[:n] {
		if c != 0 {
			e.last = [2]byte{e.last[1], c}
		}
	}
	return n, err
}

// An xzFile is an error where its file is cut off: the library takes many of these for complete.
type xzFile struct {
	x    io.Reader
	from *ending
}

func (f *xzFile) Read(p []byte) (int, error) {
	n, err := f.x.Read(p)
	if errors.Is(err, io.EOF) && f.from.last != [2]byte{'Y', 'Z'} { // the end of a stream's footer
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
