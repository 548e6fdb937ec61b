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
)

const (
	calico     = "calico" // the plugin that is wrapped
	maxProgram = 256 << 20
)

// A program is the guard's file on the host.
type program struct {
	tree tree
	host string // its path there, without links
}

func (p program) file() string   { return p.tree.seen(p.host) }
func (p program) marker() string { return p.tree.seen(p.host + guard.Marker) }

// beside finds where the guard's program belongs: in the directory from which the runtime
// takes Calico's, the first that has it.
func beside(t tree, binDirs []string) (program, error) {
	why := fmt.Errorf("find %s in %q: %w", calico, binDirs, fs.ErrNotExist)
	for _, dir := range binDirs {
		real, err := t.real(path.Join(dir, calico))
		if err == nil {
			var st fs.FileInfo
			if st, err = os.Lstat(t.seen(real)); err == nil && !st.Mode().IsRegular() {
				err = fmt.Errorf("%s is no regular file", real)
			}
		}
		if err == nil {
			dir, err = t.real(dir) // Calico's may be a link to elsewhere
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

// placed gives all of the guard's programs that lie in the runtime's directories.
func placed(t tree, binDirs []string) ([]program, error) {
	var out []program
	var errs []error
	for _, dir := range binDirs {
		real, err := t.real(dir)
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

// sits tells that the host's program is there and can be run, be it an older one.
func (p program) sits() bool {
	st, err := os.Lstat(p.file())
	return err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 == 0o111 && st.Size() > 0
}

// put makes the host's program the same as ours. It is replaced only if it is not.
func (p program) put(from string) (changed bool, err error) {
	ours, err := read(from, maxProgram)
	if err != nil {
		return false, fmt.Errorf("read the guard's program: %w", err)
	}
	st, err := os.Lstat(p.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, err
	case !st.Mode().IsRegular():
		return false, fmt.Errorf("%s is no regular file: it is not ours to replace", p.host)
	case p.sits() && st.Size() == int64(len(ours)):
		now, err := read(p.file(), maxProgram)
		if err != nil || bytes.Equal(now, ours) {
			return false, err
		}
	}
	return true, replace(p.file(), ours, 0o755)
}

// mark says that the program is only there because somebody may still name it: it hands
// every call on. It outlives a boot, as the program does.
func (p program) mark() error {
	return settle(p.marker(), "The guard is off. This program hands calls on, and goes when nobody names it any more.\n")
}

// take removes the program. The marker goes last: without it the program would guard.
func (p program) take() error {
	if err := remove(p.file()); err != nil {
		return err
	}
	return remove(p.marker())
}
