package journal

import (
	"bufio"
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
	return xzfile.NewReader(b)
}
