package ownerdb

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// A DB is the ownership record of one node. Any number of processes may have it open: all
// state is in the files, and every change holds the lock of the name that it changes. See
// the package comment for what a kill leaves.
type DB struct {
	files files
	boot  string // boot ID; files of another boot are ignored
}

// errReplaced says that the attachment was added again or deleted after the record to
// change was read.
var errReplaced = errors.New("the attachment was added again or deleted since")

const (
	bootFile = "/proc/sys/kernel/random/boot_id"
	maxID    = 512 // of an identifier; those of Kubernetes and runtimes have at most 253 characters
)

// Open opens the record in a directory. It creates the directory if it does not exist, and
// refuses one that other users can access.
func Open(dir string) (*DB, error) {
	d, err := private(dir)
	if err != nil {
		return nil, err
	}
	boot, err := disk("").Read(bootFile)
	if err != nil {
		return nil, fmt.Errorf("read the boot ID: %w", err)
	}
	return &DB{d, strings.TrimSpace(string(boot))}, nil
}

// The kinds of files, by prefix of their names; newFile is a suffix.
const (
	ownerFile = "owner-"
	indexFile = "name-"
	queueFile = "queued-"
	oldQueue  = "later-" // of earlier versions; Queued renames them
	lockFile  = "lock-"
	countFile = "count"
	newFile   = ".new"
)

// hashed returns a file name for identifiers. Lengths are part of the hashed text, so
// different identifiers never give the same text.
func hashed(kind string, ids ...string) string {
	var text []byte
	for _, id := range ids {
		text = strconv.AppendInt(text, int64(len(id)), 10)
		text = append(append(append(text, ':'), id...), ',')
	}
	sum := sha256.Sum256(text)
	return kind + hex.EncodeToString(sum[:16])
}

func ownerOf(k guard.Key) string { return hashed(ownerFile, k.Network, k.Container, k.IfName) }
func queueOf(k guard.Key) string { return hashed(queueFile, k.Network, k.Container, k.IfName) }
func indexOf(n guard.Name) string {
	return hashed(indexFile, n.Network, n.Namespace, n.Pod, n.IfName)
}

// lock takes the lock of a name, one of 256, so that lock files need not be removed. A call
// without a pod has no name and takes the lock of its attachment. Invariant: index, owner
// and queue files of a name change only under its lock, except that Forget and Unqueue
// remove files whose owner is irrelevant. Never take two name locks; the counter's lock is
// taken after the name's.
func (b *DB) lock(n guard.Name, k guard.Key) (stripe string, unlock func(), err error) {
	file := indexOf(n)
	if n.Pod == "" {
		file = ownerOf(k)
	}
	stripe = lockFile + file[len(file)-2:]
	unlock, err = b.files.Lock(stripe)
	return stripe, unlock, err
}

// put replaces a file by rename: a kill leaves the old or the new content. The caller holds
// stripe, so nobody else writes the temporary file, and one that a kill left is overwritten
// by the next put.
func put[T any](b *DB, stripe, file string, is T) error {
	data, err := encode(b.boot, is)
	if err != nil {
		return err
	}
	next := file + "." + stripe + newFile
	if err := b.files.Write(next, data); err != nil {
		return errors.Join(fmt.Errorf("write a record: %w", err), b.files.Remove(next))
	}
	if err := b.files.Rename(next, file); err != nil {
		return errors.Join(fmt.Errorf("write a record: %w", err), b.files.Remove(next))
	}
	return nil
}

// get reads a file; nil without an error if it does not exist.
func get[T any](b *DB, file string) (*T, error) {
	data, err := b.files.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a record: %w", err)
	}
	is, err := decode[T](b.boot, data)
	if err != nil {
		return nil, err
	}
	return &is, nil
}
