package hostfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A Root is the directory below which a node's files are; empty is this program's own root.
// Links in it are resolved as the node resolves them: an absolute one starts again at the
// root, and none leads out of it.
type Root string

const maxLinks = 40 // as in the kernel

// Path returns where this program finds a path of the node. The path must have no links:
// Resolve returns such a path.
func (r Root) Path(name string) string { return filepath.Join(cmp.Or(string(r), "/"), name) }

// Resolve resolves all links of an absolute path of the node. It is for paths that are given
// to others or written to; to read, use Open and ReadFile, which nobody can race.
func (r Root) Resolve(name string) (string, error) {
	if !path.IsAbs(name) {
		return "", fmt.Errorf("%.256q is not an absolute path of the host", name)
	}
	rest, done, links := strings.Split(name, "/"), "/", 0
	for len(rest) > 0 {
		element := rest[0]
		rest = rest[1:]
		switch element {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, element)
		st, err := os.Lstat(r.Path(next))
		if err != nil {
			return "", err
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: more than %d symbolic links", name, maxLinks)
		}
		to, err := os.Readlink(r.Path(next))
		if err != nil {
			return "", err
		}
		if path.IsAbs(to) {
			done = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return done, nil
}

// MakeDir resolves the links of a directory and creates it, and its parents, if it does not
// exist.
func (r Root) MakeDir(name string, perm fs.FileMode) (string, error) {
	real, err := r.Resolve(name)
	if errors.Is(err, fs.ErrNotExist) && name != "/" {
		var above string
		if above, err = r.MakeDir(path.Dir(name), 0o755); err != nil {
			return "", err
		}
		real = path.Join(above, path.Base(name))
		if err := os.Mkdir(r.Path(real), perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	st, err := os.Lstat(r.Path(real))
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a directory", name)
	}
	return real, err
}
