package ownerdb

import (
	"errors"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// Bounds of the directory. If no guard daemon runs, the ADDs themselves enforce them.
const (
	maxList     = 64 << 10
	maxFiles    = 6000
	maxOwners   = 2000
	maxQueue    = 1000
	keepDeleted = 1000
	trimEvery   = 256
)

// trim forgets if there are too many files. An error has no effect on the ADD that trims.
func (b *DB) trim() {
	if names, err := b.files.List(); err == nil && len(names) > maxFiles {
		_ = b.Forget(keepDeleted)
	}
}

// Forget keeps the latest keep deleted attachments, and the latest maxOwners of those that may be in
// use: however many pods come and go, one that runs is not forgotten for them. A forgotten
// attachment is unknown, and its calls are passed on. Deleted ones are kept because a
// repeated DEL of theirs may arrive when the name has a new owner. A deleted one with a queued DEL is
// kept, up to maxQueue.
func (b *DB) Forget(keep int) error {
	all, err := b.All()
	if err != nil {
		return err
	}
	waiting, err := b.Queued()
	if err != nil {
		return err
	}
	var errs []error
	for i := maxQueue; i < len(waiting); i++ {
		errs = append(errs, b.Unqueue(waiting[i].Key()))
	}
	owed := map[guard.Key]bool{}
	for i := range waiting {
		owed[waiting[i].Key()] = true
	}
	deleted, others := 0, 0
	for i := range all {
		o := &all[i]
		var tooMany bool
		if o.State == guard.Deleted {
			deleted++
			tooMany = deleted > keep && !owed[o.Key]
		} else {
			others++
			tooMany = others > maxOwners
		}
		if tooMany {
			errs = append(errs, b.forget(o))
		}
	}
	return errors.Join(append(errs, b.sweep())...)
}

// forget removes a record if it has not changed since it was read.
func (b *DB) forget(o *guard.Owner) error {
	_, unlock, err := b.lock(o.Name(), o.Key)
	if err != nil {
		return err
	}
	defer unlock()
	if now, err := b.Owner(o.Key); err != nil || now == nil || now.Seq != o.Seq || now.State != o.State {
		return err
	}
	return b.files.Remove(ownerOf(o.Key))
}

// sweep removes temporary files that a kill left, unreadable files, and indexes of names
// that nobody holds.
func (b *DB) sweep() error {
	names, err := b.files.List()
	errs := []error{err}
	for _, name := range names {
		switch {
		case strings.HasSuffix(name, newFile):
			_, stripe, _ := strings.Cut(strings.TrimSuffix(name, newFile), ".")
			errs = append(errs, b.removeIf(stripe, name, func() bool { return true }))
		case strings.HasPrefix(name, ownerFile):
			if o, err := get[guard.Owner](b, name); o == nil && err != nil {
				errs = append(errs, b.files.Remove(name))
			}
		case strings.HasPrefix(name, queueFile), strings.HasPrefix(name, oldQueue):
			if l, err := get[guard.QueuedDel](b, name); l == nil && err != nil {
				errs = append(errs, b.files.Remove(name))
			}
		case strings.HasPrefix(name, indexFile):
			errs = append(errs, b.removeIf(lockFile+name[len(name)-2:], name, func() bool { return b.idle(name) }))
		}
	}
	return errors.Join(errs...)
}

// idle reports whether nobody holds the name of an index.
func (b *DB) idle(file string) bool {
	ix, err := get[index](b, file)
	if ix == nil {
		return err != nil
	}
	for _, c := range ix.Owned {
		if o, err := b.holder(ix.Name, c); o != nil || err != nil {
			return false
		}
	}
	return true
}

// removeIf removes a file under the lock of its writers.
func (b *DB) removeIf(stripe, file string, yes func() bool) error {
	if !strings.HasPrefix(stripe, lockFile) {
		return nil // not a lock name of ours
	}
	unlock, err := b.files.Lock(stripe)
	if err != nil {
		return err
	}
	defer unlock()
	if !yes() {
		return nil
	}
	return b.files.Remove(file)
}
