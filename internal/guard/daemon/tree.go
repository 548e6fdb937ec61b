package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A tree is the directory below which the host's files are. A link is resolved inside the
// tree: an absolute one starts again at its root, so no path of the host leads out of it.
type tree string

const maxLinks = 40

// seen returns the path in this container of a path of the host.
func (t tree) seen(host string) string { return filepath.Join(string(t), host) }

// real resolves all links of a path of the host.
func (t tree) real(host string) (string, error) {
	if !path.IsAbs(host) {
		return "", fmt.Errorf("%.256q is not an absolute path of the host", host)
	}
	rest, done, links := strings.Split(path.Clean(host), "/"), "/", 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = path.Dir(done)
			continue
		}
		next := path.Join(done, name)
		st, err := os.Lstat(t.seen(next))
		if err != nil {
			return "", err
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: more than 40 symbolic links", host)
		}
		to, err := os.Readlink(t.seen(next))
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

// dir resolves the links of a directory and creates it, and its parents, if it does not
// exist.
func (t tree) dir(host string, perm fs.FileMode) (string, error) {
	real, err := t.real(host)
	if errors.Is(err, fs.ErrNotExist) && host != "/" {
		var above string
		if above, err = t.dir(path.Dir(host), 0o755); err != nil {
			return "", err
		}
		real = path.Join(above, path.Base(host))
		if err := os.Mkdir(t.seen(real), perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	st, err := os.Lstat(t.seen(real))
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a directory", host)
	}
	return real, err
}
