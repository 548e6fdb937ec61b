package cniconf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	maxNamed  = 100_000 // files read
	maxLevels = 4       // levels of directories below a given one
)

// Caches are the directories in which libcni, old kubelets and Multus store the
// configuration of each ADD.
var Caches = []string{"/var/lib/cni/results", "/var/lib/cni/cache", "/var/lib/cni/multus"}

// NamedBy returns every file below the configuration and cache directories that names the
// guard. As long as there is one, or an error says that not all could be read, the guard's
// program must stay: CRI-O calls DEL with the configuration that was cached at the ADD, and
// Multus with its copy.
func NamedBy(dirs, caches []string) ([]string, error) {
	w := walk{left: maxNamed}
	for _, dir := range dirs {
		w.below(dir, configures)
	}
	for _, dir := range caches {
		w.below(dir, func(string) bool { return true })
	}
	slices.Sort(w.named)
	return slices.Compact(w.named), errors.Join(w.unsure...)
}

// A walk is what was found so far.
type walk struct {
	left   int
	named  []string
	unsure []error
}

func (w *walk) doubt(err error) {
	if len(w.unsure) < 8 { // more add nothing
		w.unsure = append(w.unsure, err)
	}
}

// below searches a directory. An invalid file is an error only if it must be JSON: caches
// hold other files too.
func (w *walk) below(dir string, must func(path string) bool) {
	root, err := filepath.EvalSymlinks(dir) // WalkDir does not follow a link as its root
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		w.doubt(err)
		return
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile, with its pod
		case err != nil:
			return err
		case d.IsDir():
			if strings.Count(strings.TrimPrefix(path, root), "/") > maxLevels {
				return fmt.Errorf("%s is more than 4 levels deep", path)
			}
			return nil
		}
		if w.left--; w.left < 0 {
			return fmt.Errorf("%s: more than %d files", dir, maxNamed)
		}
		w.file(path, must(path))
		return nil
	})
	if err != nil {
		w.doubt(err)
	}
}

func (w *walk) file(path string, must bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENXIO) {
		return // removed, a dangling link, or a socket
	}
	if err != nil {
		w.doubt(err)
		return
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return
	}
	raw, err := content(f)
	if err != nil {
		w.doubt(err)
		return
	}
	switch named, whole := names(raw, 0); {
	case named:
		w.named = append(w.named, path)
	case must && !whole:
		w.doubt(fmt.Errorf("%w: %s may be half written", errBroken, path))
	}
}
