package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	planFile = "plan.json"
	logFile  = "log"
	unnamed  = ".new-" // prefix of a directory that is being created, or that a crash left
)

// goodName restricts names that become parts of paths: they come from files of others.
var goodName = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func clusterDir(state, cluster string) (string, error) {
	if !filepath.IsAbs(state) {
		return "", fmt.Errorf("journal directory %q is not an absolute path", state)
	}
	if !goodName.MatchString(cluster) {
		return "", fmt.Errorf("%q is not a valid cluster GUID", cluster)
	}
	return filepath.Join(state, "plumbline", cluster), nil
}

func planDir(state, cluster, plan string) (string, error) {
	base, err := clusterDir(state, cluster)
	if err == nil && !goodName.MatchString(plan) {
		err = fmt.Errorf("%q is not a valid plan ID", plan)
	}
	return filepath.Join(base, plan), err
}

// makeDirs creates a directory and its parents and syncs each parent.
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
		return nil // if it is not a directory the next call fails
	}
	if err != nil {
		return err
	}
	return hostfile.SyncDir(above)
}

// readPlan reads the plan file that h describes.
func readPlan(dir string, h *head) ([]byte, error) {
	f, size, err := hostfile.OpenRegular(filepath.Join(dir, planFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) { // the plan file is created before the journal gets its name
		return nil, fmt.Errorf("%w: %s is missing", errDamaged, planFile)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size != h.Size {
		return nil, fmt.Errorf("%w: %s has %d bytes, expected %d", errDamaged, f.Name(), size, h.Size)
	}
	raw := make([]byte, size)
	_, err = io.ReadFull(f, raw)
	return raw, err
}
