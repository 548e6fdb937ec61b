package ipam

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
)

const (
	timeOf     = "20060102T150405Z"
	suffix     = ".tar.gz"
	unfinished = ".part"
	// beforeRestore begins the name of a file that is never removed.
	beforeRestore = "before-restore-"
	// abandonedAfter is when nobody writes an unfinished file any more.
	abandonedAfter = 24 * time.Hour
)

// A keeper keeps the newest files of one cluster in a directory. Their names sort by when the records were read.
type keeper struct {
	dir, prefix string
	keep        int
}

// kept is what became of the files of a directory.
type kept struct {
	file    string
	size    int64
	removed int
	aside   string // the last file from before a restore, by its new name
}

func newKeeper(dir string, s *model.Snapshot, keep int) (*keeper, error) {
	if s.Meta.GUID == "" {
		return nil, errors.New("--keep: nothing is written, since the GUID of the cluster was not read, which tells its files from those of others")
	}
	return &keeper{dir, fmt.Sprintf("ipam-%.4x-", sha256.Sum256([]byte(s.Meta.GUID))), keep}, nil
}

// write writes the records into a new file, and removes the oldest only once that is on the disk. The newest file from before
// a restore is put aside, and before anything else: only it tells who had which address, and a run that ends halfway must
// not leave the next one to compare with what was written since.
func (k *keeper) write(s *model.Snapshot) (out kept, err error) {
	earlier, err := k.files()
	if err != nil {
		return out, err
	}
	out.file = k.prefix + s.Meta.Taken.Time().UTC().Format(timeOf) + suffix
	if slices.Contains(earlier, out.file) {
		return out, fmt.Errorf("%s exists", k.path(out.file))
	}
	last, unread := k.lastReadable(earlier, s)
	if last.restored {
		out.aside = beforeRestore + last.name
		if err := os.Rename(k.path(last.name), k.path(out.aside)); err != nil {
			return out, err
		}
		earlier = slices.DeleteFunc(earlier, func(name string) bool { return name == last.name })
	}
	if out.size, err = k.complete(out.file, s); err != nil {
		return out, err
	}
	if n := len(earlier); n > 0 && earlier[n-1] > out.file {
		return out, fmt.Errorf("%s was written, and none was removed: %s is of a later time; move it away if the API server's clock was ahead", k.path(out.file), k.path(earlier[n-1]))
	}
	if unread != nil {
		return out, fmt.Errorf("%s was written, and none was removed: %w", k.path(out.file), unread)
	}
	out.removed, err = k.thin(earlier)
	return out, err
}

// A compared file is the newest one that could be read.
type compared struct {
	name     string
	restored bool // Calico's datastore was restored since
}

// lastReadable compares records with the newest file that can be read; unread says why the newest of all cannot.
func (k *keeper) lastReadable(earlier []string, s *model.Snapshot) (last compared, unread error) {
	for i, name := range slices.Backward(earlier) {
		was, err := cluster.ReadBundle(k.path(name))
		if err == nil {
			return compared{name, cluster.RecordsWentBack(was, s)}, unread
		}
		if i == len(earlier)-1 {
			unread = err
		}
	}
	return last, unread
}

// complete writes a file that is there only as a whole.
func (k *keeper) complete(name string, s *model.Snapshot) (size int64, err error) {
	part := k.path(name + unfinished)
	if size, err = cluster.WriteBundle(part, s); err != nil {
		return 0, err
	}
	if err := os.Rename(part, k.path(name)); err != nil {
		return 0, errors.Join(err, os.Remove(part))
	}
	return size, hostfile.SyncDir(k.dir)
}

// thin removes the oldest of the earlier files, and what was never written to its end.
func (k *keeper) thin(earlier []string) (removed int, err error) {
	for _, name := range earlier[:max(0, len(earlier)+1-k.keep)] {
		if err := os.Remove(k.path(name)); err != nil {
			return removed, err
		}
		removed++
	}
	parts, err := filepath.Glob(k.path(k.prefix + "*" + suffix + unfinished))
	for _, part := range parts {
		if is, there := os.Lstat(part); there == nil && is.Mode().IsRegular() && time.Since(is.ModTime()) > abandonedAfter {
			err = errors.Join(err, os.Remove(part))
		}
	}
	return removed, err
}

// files are the names of this cluster's, oldest first; what is named otherwise is somebody else's.
func (k *keeper) files() (out []string, err error) {
	all, err := os.ReadDir(k.dir) // sorted by name
	for _, e := range all {
		middle, ours := strings.CutPrefix(e.Name(), k.prefix)
		if at, is := strings.CutSuffix(middle, suffix); ours && is && e.Type().IsRegular() {
			if _, err := time.Parse(timeOf, at); err == nil {
				out = append(out, e.Name())
			}
		}
	}
	return out, err
}

func (k *keeper) path(name string) string { return filepath.Join(k.dir, name) }
