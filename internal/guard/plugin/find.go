package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Retries while a plugin's program is being replaced.
const (
	replaced = 2 * time.Second
	retry    = 20 * time.Millisecond
)

// find searches the directories of CNI_PATH for a program; the first match is used.
func find(kind, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue
		}
		file, err := filepath.Abs(filepath.Join(dir, kind))
		if err != nil {
			continue
		}
		if st, err := os.Stat(file); err == nil && st.Mode().IsRegular() {
			return file, nil
		}
	}
	return "", fmt.Errorf("find plugin %q in path %q: %w", kind, path, fs.ErrNotExist)
}

// passing reports whether an error may be temporary: the program is being written, or was
// renamed and does not have its mode yet.
func passing(err error) bool {
	return errors.Is(err, syscall.ETXTBSY) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)
}
