package cniconf

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"plumbline.dev/plumbline/internal/hostfile"
)

// realDisk is the file system of the node.
type realDisk struct{}

// read reads a file that is not a link. The target of a link is not the guard's to replace.
func (realDisk) read(path string) (*image, error) {
	f, err := hostfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%w: %s is a link", ErrForeign, path)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := content(f)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, fmt.Errorf("%s: its owner is unknown", path)
	}
	label, err := labelOf(f)
	return &image{
		raw: raw, dev: sys.Dev, ino: sys.Ino, uid: int(sys.Uid), gid: int(sys.Gid),
		mode: st.Mode(), label: label,
	}, err
}

func (realDisk) create(path string) (draft, error) {
	f, err := hostfile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return realDraft{f}, err
}

func (realDisk) remove(path string) error { return os.Remove(path) }

func (realDisk) syncDir(dir string) error { return hostfile.SyncDir(dir) }

// lock excludes other guard daemons from a directory: during an update there may be two.
func (realDisk) lock(dir string) (func(), error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := hostfile.TryLock(d); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), d.Close())
	}
	return func() { _ = d.Close() }, nil
}

// realDraft is a file that is being written.
type realDraft struct{ f *os.File }

func (d realDraft) write(raw []byte) error {
	_, err := d.f.Write(raw)
	return err
}

func (d realDraft) sync() error  { return d.f.Sync() }
func (d realDraft) close() error { return d.f.Close() }

// dress gives the draft the owner, mode and label of the file that it replaces. It sets
// only what differs, because setting may be refused.
func (d realDraft) dress(like *image) error {
	st, err := d.f.Stat()
	if err != nil {
		return err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || int(sys.Uid) != like.uid || int(sys.Gid) != like.gid {
		if err := d.f.Chown(like.uid, like.gid); err != nil {
			return err
		}
	}
	if err := d.f.Chmod(like.mode); err != nil {
		return err
	}
	label, err := labelOf(d.f)
	if err != nil || label == like.label {
		return err
	}
	return syscall.Setxattr(byDescriptor(d.f), labelKey, []byte(like.label), 0)
}

const labelKey = "security.selinux"

// byDescriptor returns a path of the open file itself.
func byDescriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// labelOf returns the SELinux label of a file; empty if there is none.
func labelOf(f *os.File) (string, error) {
	var label [1024]byte
	n, err := syscall.Getxattr(byDescriptor(f), labelKey, label[:])
	if errors.Is(err, syscall.ENODATA) || errors.Is(err, syscall.ENOTSUP) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the label of %s: %w", f.Name(), err)
	}
	return string(label[:n]), nil
}
