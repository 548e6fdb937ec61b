package eventlog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

const (
	suffix    = ".events"
	oldSuffix = ".flight" // of version 1; read, never written
	dirName   = "events"
	oldDir    = "flight" // of version 1
)

// create makes the directory. If version 1 left its own beside it, that one is renamed, so
// that its events are still read and its segments are removed in their turn.
func create(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) && filepath.Base(dir) == dirName {
		if err := os.Rename(filepath.Join(filepath.Dir(dir), oldDir), dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return os.MkdirAll(dir, 0o700)
}

type segment struct {
	number int
	name   string
}

// list gives the segments, the oldest first.
func list(dir string) ([]segment, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read event log: %w", err)
	}
	var out []segment
	for _, f := range files {
		end := filepath.Ext(f.Name())
		if n, err := strconv.Atoi(f.Name()[:len(f.Name())-len(end)]); err == nil && n >= 0 && (end == suffix || end == oldSuffix) && f.Type().IsRegular() {
			out = append(out, segment{n, f.Name()})
		}
	}
	slices.SortFunc(out, func(a, b segment) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(b.name, a.name)) })
	return out, nil
}

// Segments gives the names of the files of an event log, the oldest first.
func Segments(dir string) ([]string, error) {
	all, err := list(dir)
	names := make([]string, 0, len(all))
	for _, s := range all {
		names = append(names, s.name)
	}
	return names, err
}
