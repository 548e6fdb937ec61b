package host

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

// Bounds of one file.
const (
	maxLine  = 4 << 10  // a short file of procfs
	maxTable = 16 << 20 // a mount table
	maxJSON  = 1 << 20
)

// gone reports whether an error only means that a process or file has ended meanwhile.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}

// content reads a regular file of the host.
func (h *Host) content(path string, limit int64) ([]byte, error) {
	return hostfile.Root(h.o.Root).ReadFile(path, limit)
}
