package cniconf

import (
	"bytes"
	"io/fs"
)

// A disk is the operations that read and replace a file. Tests fail or stop after each of
// them.
type disk interface {
	read(path string) (*image, error)
	create(path string) (draft, error)
	exchange(a, b string) error
	remove(path string) error
	syncDir(dir string) error
	lock(dir string) (release func(), err error)
}

// A draft is a new file that no other program uses yet.
type draft interface {
	write(raw []byte) error
	dress(like *image) error // owner, mode and SELinux label
	sync() error
	close() error
}

// An image is a file as it was read.
type image struct {
	raw      []byte
	dev, ino uint64
	uid, gid int
	mode     fs.FileMode
	label    string // SELinux label
}

// same reports whether both images are of the same unchanged file.
func (a *image) same(b *image) bool {
	return a.dev == b.dev && a.ino == b.ino && a.uid == b.uid && a.gid == b.gid &&
		a.mode == b.mode && a.label == b.label && bytes.Equal(a.raw, b.raw)
}
