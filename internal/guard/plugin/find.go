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

// A plugin's program may be in the middle of being replaced.
const (
	replaced = 2 * time.Second
	retry    = 20 * time.Millisecond
)

// find looks for a program in the directories of CNI_PATH, the first wins.
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

// passing tells that an error may be over in a moment: the program is being written, or
// was renamed and has not its mode yet.
func passing(err error) bool {
	return errors.Is(err, syscall.ETXTBSY) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)
}
