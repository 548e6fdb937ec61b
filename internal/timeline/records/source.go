package records

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// headSize is how much of a file's beginning is used to find its format and the year and zone of
// its timestamps.
const headSize = 256 << 10

var errBinary = errors.New("binary file")

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
	case isVerbose(head):
		return newVerboseReader(b), true, nil
	case isDocument(head):
		return newDocumentReader(b), true, nil
	case isYAML(head):
		return newYAMLReader(b), true, nil
	case isTable(head):
		return newTableReader(b, head), true, nil
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
