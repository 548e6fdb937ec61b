package ipam

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
)

// nameOf is how a kept file is named, by when its records were read: such names sort by time.
const nameOf = "ipam-20060102T150405Z.tar.gz"

// write writes the records into a file, or, if so many files are kept, into a new one of a directory.
func write(file string, s *model.Snapshot, keep int) (written string, size int64, err error) {
	if keep == 0 {
		size, err = cluster.WriteBundle(file, s)
		return file, size, err
	}
	written = filepath.Join(file, s.Meta.Taken.Time().UTC().Format(nameOf))
	part := written + ".part" // a file that was not written to its end is none
	if size, err = cluster.WriteBundle(part, s); err != nil {
		return "", 0, err
	}
	if err := os.Rename(part, written); err != nil {
		return "", 0, errors.Join(err, os.Remove(part))
	}
	return written, size, thin(file, keep)
}

// thin removes all but the newest kept files of a directory, and no file with another name.
func thin(dir string, keep int) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e os.DirEntry) bool {
		_, err := time.Parse(nameOf, e.Name())
		return err != nil || !e.Type().IsRegular()
	})
	for _, e := range all[:max(0, len(all)-keep)] { // ReadDir sorts by name
		err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
	}
	return err
}
