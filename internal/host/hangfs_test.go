package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A hangfs is a FUSE file system that takes every request and answers none but the first,
// unless told otherwise.
type hangfs struct {
	dir    string
	minor  int
	device *os.File

	mu      sync.Mutex
	answers bool
}

const (
	opInit   = 26
	opStatfs = 17
)

// mountHang mounts one in the namespace of this process.
func mountHang(t *testing.T, dir, name string) *hangfs {
	t.Helper()
	h, err := newHang(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	go h.serve()
	t.Cleanup(func() { _ = h.device.Close() })
	return h
}

// newHang mounts one that nobody serves yet. Its source is the last name of the path.
func newHang(dir string) (*hangfs, error) {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	h := &hangfs{dir: dir}
	if err := os.MkdirAll(h.dir, 0o755); err != nil {
		return nil, err
	}
	if err := unix.Mount(filepath.Base(dir), h.dir, "fuse.hangtest", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd)); err != nil {
		return nil, err
	}
	h.device = os.NewFile(uintptr(fd), "/dev/fuse") // only a mounted one can be polled
	var x unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, h.dir, unix.AT_STATX_DONT_SYNC|unix.AT_SYMLINK_NOFOLLOW, 0, &x); err != nil {
		return nil, err
	}
	h.minor = int(x.Dev_minor)
	return h, nil
}

func (h *hangfs) serve() {
	b := make([]byte, 1<<17)
	for {
		n, err := h.device.Read(b)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
			continue // a request that was taken back
		}
		if err != nil {
			return
		}
		op, unique := binary.LittleEndian.Uint32(b[4:8]), binary.LittleEndian.Uint64(b[8:16])
		h.mu.Lock()
		answers := h.answers
		h.mu.Unlock()
		switch {
		case n < 40:
		case op == opInit:
			out := make([]byte, 64)
			binary.LittleEndian.PutUint32(out, 7)
			binary.LittleEndian.PutUint32(out[4:], 31)
			binary.LittleEndian.PutUint32(out[20:], 4096) // largest write
			h.reply(unique, out)
		case op == opStatfs && answers:
			h.reply(unique, make([]byte, 80))
		}
	}
}

func (h *hangfs) reply(unique uint64, body []byte) {
	out := make([]byte, 16, 16+len(body))
	binary.LittleEndian.PutUint32(out, uint32(16+len(body)))
	binary.LittleEndian.PutUint64(out[8:], unique)
	_, _ = h.device.Write(append(out, body...))
}

func (h *hangfs) answer(yes bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = yes
}

// abort ends the connection: whoever waits gets an error.
func (h *hangfs) abort(t *testing.T, sys string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(sys, "fs/fuse/connections", strconv.Itoa(h.minor), "abort"), []byte("1"), 0o600); err != nil {
		t.Error(err)
	}
}
