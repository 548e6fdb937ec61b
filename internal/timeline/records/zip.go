package records

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// isZip reports by its beginning whether a file is a zip archive.
func isZip(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

// unzipped calls each with the regular files of a zip archive, in order. An archive that is itself
// packed, or a stream, is read into memory, up to a bound.
func unzipped(b *bufio.Reader, whole io.Reader, each func(*zip.File, io.Reader)) error {
	at, size, err := readerAt(b, whole)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return fmt.Errorf("not read: zip: %w", err)
	}
	for _, f := range z.File {
		if !f.Mode().IsRegular() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			each(f, failing{err})
			continue
		}
		each(f, r)
		_ = r.Close()
	}
	return nil
}

// failing is a file that cannot be read.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }
