package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	calico     = "calico" // the wrapped plugin
	maxProgram = 256 << 20
)

// A program is the guard's program on the host.
type program struct {
	tree hostfile.Root
	host string // its path on the host, without links
}

func (p program) file() string   { return p.tree.Path(p.host) }
func (p program) marker() string { return p.tree.Path(p.host + guard.Marker) }

// beside returns where the guard's program belongs: in the first directory from which the
// runtime runs Calico's plugin.
func beside(t hostfile.Root, binDirs []string) (program, error) {
	why := fmt.Errorf("find %s in %q: %w", calico, binDirs, fs.ErrNotExist)
	for _, dir := range binDirs {
		real, err := t.Resolve(path.Join(dir, calico))
		if err == nil {
			var st fs.FileInfo
			if st, err = os.Lstat(t.Path(real)); err == nil && !st.Mode().IsRegular() {
				err = fmt.Errorf("%s is not a regular file", real)
			}
		}
		if err == nil {
			dir, err = t.Resolve(dir) // Calico's program itself may be a link into another directory
		}
		if err == nil {
			return program{t, path.Join(dir, cniconf.Guard)}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			why = errors.Join(why, err)
		}
	}
	return program{}, why
}

// placed returns all programs of the guard in the runtime's directories.
func placed(t hostfile.Root, binDirs []string) ([]program, error) {
	var out []program
	var errs []error
	for _, dir := range binDirs {
		real, err := t.Resolve(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		p := program{t, path.Join(real, cniconf.Guard)}
		if err == nil {
			for _, file := range []string{p.file(), p.marker()} {
				if _, err = os.Lstat(file); err == nil {
					out = append(out, p)
					break
				}
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return out, errors.Join(errs...)
}

// sits reports whether the program exists and is executable, possibly an older version.
func (p program) sits() bool {
	st, err := os.Lstat(p.file())
	return err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 == 0o111 && st.Size() > 0
}

// put makes the host's program identical to ours. An identical one is not replaced.
func (p program) put(from string) (changed bool, err error) {
	ours, err := hostfile.ReadFollow(from, maxProgram)
	if err != nil {
		return false, fmt.Errorf("read the guard's program: %w", err)
	}
	st, err := os.Lstat(p.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, err
	case !st.Mode().IsRegular():
		return false, fmt.Errorf("%s is not a regular file and is not replaced", p.host)
	case p.sits() && st.Size() == int64(len(ours)):
		now, err := hostfile.ReadFollow(p.file(), maxProgram)
		if err != nil || bytes.Equal(now, ours) {
			return false, err
		}
	}
	return true, hostfile.Replace(p.file(), ours, 0o755)
}

// mark creates the marker that makes the program pass every call on, because a file may
// still name it. Like the program it survives a reboot.
func (p program) mark() error {
	return settle(p.marker(), "The guard is off. This program passes calls on. It is removed when no configuration names it any more.\n")
}

// take removes the program, and the marker last: without it the program would guard.
func (p program) take() error {
	if err := remove(p.file()); err != nil {
		return err
	}
	return remove(p.marker())
}
