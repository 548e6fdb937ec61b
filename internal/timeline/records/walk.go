package records

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// Walk gives a file, or all files of a directory, as inputs: those of one rotated log together,
// the oldest first. What cannot be read is an input too, so that it is reported. Symbolic links
// are not followed: their target inside the directory is an input anyway. Journal files of users are
// left out: no component of the cluster writes there.
func Walk(fsys fs.FS, name string) ([]Input, error) {
	var out []Input
	err := fs.WalkDir(fsys, name, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == name:
			return err
		case err != nil:
			out = append(out, unreadable(p, fmt.Errorf("not read: %w", err)))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir(), p != name && journal.IsUser(p):
		case d.Type()&fs.ModeSymlink != 0:
			if leavesTree(fsys, name, p) {
				out = append(out, unreadable(p, errors.New("not read: symbolic link out of the directory")))
			}
		case !d.Type().IsRegular():
			out = append(out, unreadable(p, fmt.Errorf("not read: %s, not a regular file", kindOf(d.Type()))))
		default:
			out = append(out, regular(fsys, p, d))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("walk %s: %w", name, err)
	}
	slices.SortStableFunc(out, func(a, b Input) int {
		return cmp.Or(strings.Compare(path.Dir(a.Name), path.Dir(b.Name)), ageOf(a.Name).compare(ageOf(b.Name)))
	})
	nameNodes(out)
	return out, nil
}

func regular(fsys fs.FS, p string, d fs.DirEntry) Input {
	var mod time.Time
	if info, err := d.Info(); err == nil {
		mod = info.ModTime()
	}
	return Input{Name: p, ModTime: mod, Open: func() (io.ReadCloser, error) {
		f, err := fsys.Open(p)
		if err != nil {
			return nil, fmt.Errorf("not read: %w", err)
		}
		return f, nil
	}}
}

func unreadable(p string, err error) Input {
	return Input{Name: p, Open: func() (io.ReadCloser, error) { return nil, err }}
}

// leavesTree reports whether a link points out of the directory, or its target is not known.
func leavesTree(fsys fs.FS, root, p string) bool {
	to, err := fs.ReadLink(fsys, p)
	if err != nil || path.IsAbs(to) {
		return true
	}
	to = path.Join(path.Dir(p), to)
	return root != "." && to != root && !strings.HasPrefix(to, root+"/") || !fs.ValidPath(to)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	default:
		return "a device"
	}
}
