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

// A DB is the record of one node. Any number of processes may have it open.
type DB struct {
	files files
	boot  string
}

// ErrReplaced says that a record has gone on since what was to be changed was read.
var ErrReplaced = errors.New("the attachment was added again or deleted since")

const (
	bootFile = "/proc/sys/kernel/random/boot_id"
	maxID    = 512 // of an identifier; Kubernetes' and runtimes' have at most 253
)

// Open opens the record in a directory, which is made if it is not there and refused if
// it is not ours alone.
func Open(dir string) (*DB, error) {
	d, err := private(dir)
	if err != nil {
		return nil, err
	}
	boot, err := disk("").Read(bootFile)
	if err != nil {
		return nil, fmt.Errorf("read the boot's identity: %w", err)
	}
	return &DB{d, strings.TrimSpace(string(boot))}, nil
}

// The kinds of files, by the first letters of their names.
const (
	ownerFile = "owner-"
	indexFile = "name-"
	queueFile = "later-"
	lockFile  = "lock-"
	countFile = "count"
	newFile   = ".new"
)

// hashed makes a file's name of identifiers, whatever they hold.
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
func laterOf(k guard.Key) string { return hashed(queueFile, k.Network, k.Container, k.IfName) }
func indexOf(n guard.Name) string {
	return hashed(indexFile, n.Network, n.Namespace, n.Pod, n.IfName)
}

// lock takes the lock of a name: one of 256, so that locks need not be removed. Without
// a pod there is no name, and the attachment's own does as well.
func (b *DB) lock(n guard.Name, k guard.Key) (stripe string, unlock func(), err error) {
	file := indexOf(n)
	if n.Pod == "" {
		file = ownerOf(k)
	}
	stripe = lockFile + file[len(file)-2:]
	unlock, err = b.files.Lock(stripe)
	return stripe, unlock, err
}

// put replaces a file. Whoever writes holds the stripe, so the new file's name is
// nobody else's, and what a kill leaves of it is overwritten by the next.
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

// get reads a file; nil without an error if there is none.
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
