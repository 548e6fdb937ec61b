package daemon

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"plumbline.dev/plumbline/internal/hostfile"
)

// settle writes a small file if its content differs.
func settle(file, text string) error {
	now, err := hostfile.ReadFollow(file, 4096)
	if err == nil && bytes.Equal(now, []byte(text)) {
		return nil
	}
	return hostfile.Replace(file, []byte(text), 0o644)
}

// remove removes a file; a missing one is not an error.
func remove(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
