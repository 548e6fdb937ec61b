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

// A tree is where the host's files are seen. What leads out of it on the host's own paths
// does not lead out of it here: a link begins again at the tree's root.
type tree string

const maxLinks = 40

// seen is where a path of the host is for us.
func (t tree) seen(host string) string { return filepath.Join(string(t), host) }

// real gives the path to which one of the host leads, without links.
func (t tree) real(host string) (string, error) {
	if !path.IsAbs(host) {
		return "", fmt.Errorf("%.256q is no path of the host", host)
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
			return "", fmt.Errorf("%s: too many links", host)
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

// dir gives a directory's place without links, and makes it if only its last names are
// missing.
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
		err = fmt.Errorf("%s is no directory", host)
	}
	return real, err
}
