package journal

import (
	"errors"
	"fmt"
	"io"
)

// A File is one journal file. It is used by one goroutine at a time.
type File struct {
	Header
	layout
	r       io.ReaderAt
	size    int64
	pages   *pages
	damaged []Damage
	spent   int64 // of the work that the file's size allows
	rereads int   // of pages that may have been written since they were read
}

// Open reads the header of a file of size bytes. It fails if the file is no journal file, or needs
// a feature that this package does not know. Other damage is counted. The size of a file that is
// being written must be taken after r was opened; what is appended later is not seen.
func Open(r io.ReaderAt, size int64) (*File, error) {
	if size < minHeader {
		return nil, fmt.Errorf("journal header: the file has %d bytes, a header %d", size, minHeader)
	}
	b := make([]byte, minHeader)
	if n, err := r.ReadAt(b, 0); n < len(b) {
		return nil, fmt.Errorf("journal header: %w", err)
	}
	h, l, err := parseHeader(b)
	if err != nil {
		return nil, err
	}
	f := &File{Header: h, layout: l, r: r, size: size, pages: newPages()}
	f.checkHeader()
	return f, nil
}

// checkHeader replaces what cannot be right by what is safe to assume.
func (f *File) checkHeader() {
	if f.State > Archived {
		f.damage(badHeader, 1, 16, fmt.Errorf("state %d", f.State))
	}
	if f.headerSize < minHeader || f.headerSize%8 != 0 || f.headerSize > f.size {
		f.damage(badHeader, 1, 88, fmt.Errorf("header size %d", f.headerSize))
		f.headerSize = minHeader
	}
	switch end := f.headerSize + f.arenaSize; {
	case f.arenaSize < 0 || end < 0:
		f.damage(badHeader, 1, 96, fmt.Errorf("arena size %d", uint64(f.arenaSize)))
	case end > f.size:
		f.damage(shortFile, int(min(end-f.size, 1<<31-1)), f.size, nil)
	}
}

// hash is the hash of a data object's payload in this file.
func (f *File) hash(payload []byte) uint64 {
	if f.KeyedHash {
		return siphash24(payload, f.FileID)
	}
	return lookup3(payload)
}

var (
	errOutside = errors.New("beyond the end of the file")
	errWork    = errors.New("more work than the file's size allows")
)

// read gives n bytes at an offset, until the next read.
func (f *File) read(offset, n int64) ([]byte, error) {
	if offset < 0 || n < 0 || n > f.size-offset {
		return nil, errOutside
	}
	return f.pages.read(f, offset, int(n))
}

// spend accounts for work in bytes. A file that systemd wrote needs a small part of what is
// allowed; one in which a million entries refer to the same compressed field needs more.
func (f *File) spend(n int64) error {
	const always, perByte = 64 << 20, 256
	if f.spent += n; f.spent/perByte > always/perByte+f.size {
		return errWork
	}
	return nil
}
