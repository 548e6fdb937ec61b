package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Version is the version of the format: that of the entries and of the rows in them. The
// first line of each segment has it. Version 1 had no such line; its entries are the same.
const Version = 2

// ErrNewer means that a newer version wrote a segment. Its entries are not read.
var ErrNewer = errors.New("written by a newer version; upgrade to read it")

// A heading is the first line of a segment.
type heading struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

const (
	format    = "plumbline.dev/eventlog"
	maxHeader = 256
)

var header = line(fmt.Appendf(nil, `{"format":%q,"version":%d}`, format, Version))

// HeadingVersion is the version in a heading, without its checksum; false if the line is none.
func HeadingVersion(body []byte) (int, bool) {
	var h heading
	if !bytes.HasPrefix(body, []byte(`{"format":`)) || json.Unmarshal(body, &h) != nil || h.Format != format {
		return 0, false
	}
	return h.Version, true
}

// versionOf reads the version of a segment. An empty one has none yet: whoever writes to it
// begins with a heading. One without a heading, or with one that a crash cut off, is
// read as version 1, whose entries are the same.
func versionOf(f io.ReaderAt) (int, error) {
	b := make([]byte, maxHeader)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read event log: %w", err)
	}
	if n == 0 {
		return Version, nil
	}
	first, _, _ := bytes.Cut(b[:n], []byte{'\n'})
	body, _ := checked(first)
	if v, ok := HeadingVersion(body); ok {
		return v, nil
	}
	return 1, nil
}

// Check reports whether this version can read a segment.
func Check(f io.ReaderAt) error {
	v, err := versionOf(f)
	if err == nil && v > Version {
		err = fmt.Errorf("event log of version %d, supported is %d: %w", v, Version, ErrNewer)
	}
	return err
}

// current reports whether a segment is of this version.
func (r *Record) current(name string) bool {
	f, err := os.Open(filepath.Join(r.dir, name))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	v, err := versionOf(f)
	return err == nil && v == Version && filepath.Ext(name) == suffix
}
