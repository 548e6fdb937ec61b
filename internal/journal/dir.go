package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

const (
	planFile = "plan.json"
	logFile  = "log"
	unnamed  = ".new-" // a directory that is being made, or was left so by a crash
)

// Names become parts of paths, and they come from strangers.
var goodName = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func clusterDir(state, cluster string) (string, error) {
	if !filepath.IsAbs(state) {
		return "", fmt.Errorf("the directory of journals is %q: it must be absolute", state)
	}
	if !goodName.MatchString(cluster) {
		return "", fmt.Errorf("%q cannot be the GUID of a cluster", cluster)
	}
	return filepath.Join(state, "plumbline", cluster), nil
}

func planDir(state, cluster, plan string) (string, error) {
	base, err := clusterDir(state, cluster)
	if err == nil && !goodName.MatchString(plan) {
		err = fmt.Errorf("%q cannot be the ID of a plan", plan)
	}
	return filepath.Join(base, plan), err
}

// makeDirs makes a directory with all above it, each of them on the disk.
func makeDirs(dir string) error {
	err := os.Mkdir(dir, 0o700)
	above := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err := makeDirs(above); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // if it is no directory, the next step says so
	}
	if err != nil {
		return err
	}
	return syncDir(above)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openRegular opens a file without waiting for a writer of a pipe, and without following
// a link.
func openRegular(path string, flag int) (*os.File, int64, error) {
	f, err := os.OpenFile(path, flag|plainly, 0)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, st.Size(), nil
}

// readPlan reads the bytes that h speaks of.
func readPlan(dir string, h *head) ([]byte, error) {
	f, size, err := openRegular(filepath.Join(dir, planFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) { // it was there before the log was
		return nil, fmt.Errorf("%w: it has no %s", ErrDamaged, planFile)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size != h.Size {
		return nil, fmt.Errorf("%w: %s has %d bytes, %d were written", ErrDamaged, f.Name(), size, h.Size)
	}
	raw := make([]byte, size)
	_, err = io.ReadFull(f, raw)
	return raw, err
}
