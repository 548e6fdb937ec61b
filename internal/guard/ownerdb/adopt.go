package ownerdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// Adopt records an attachment that is older than the guard: it exists, and its ADD was not
// recorded. It gets the node's next sequence number, so every future ADD is newer. It is
// adopted only if nobody of its name is on record, because the order of two would be a
// guess. With adopted false and no error, the attachment or another owner of its name is on
// record.
//
// A kill leaves, in order of the writes: a gap in the sequence; an index entry without a
// record, which is nobody; the complete record.
func (b *DB) Adopt(o guard.Owner) (adopted bool, err error) {
	for _, id := range []string{o.Network, o.Container, o.IfName, o.Namespace, o.Pod, o.UID} {
		if len(id) > maxID {
			return false, fmt.Errorf("adopt an attachment: an identifier of %d bytes is too long", len(id))
		}
	}
	if o.Pod == "" || o.Container == "" {
		return false, errors.New("adopt an attachment: it has no pod or no container ID")
	}
	o.State, o.Again, o.PID, o.Start = guard.Added, false, 0, 0
	if adopted, err = b.adopt(o); err != nil {
		return false, fmt.Errorf("adopt an attachment: %w", err)
	}
	return adopted, nil
}

func (b *DB) adopt(o guard.Owner) (bool, error) {
	stripe, unlock, err := b.lock(o.Name(), o.Key)
	if err != nil {
		return false, err
	}
	defer unlock()
	if alone, err := b.alone(&o); !alone {
		return false, err
	}
	if o.Seq, err = b.next(b.index(o.Name()).Top); err != nil {
		return false, err
	}
	// The index first, as in Begin: a kill in between leaves an entry without a record,
	// which is nobody.
	if err := put(b, stripe, indexOf(o.Name()), index{Name: o.Name(), Top: o.Seq, Owned: []string{o.Container}}); err != nil {
		return false, err
	}
	return true, put(b, stripe, ownerOf(o.Key), o)
}

// alone reports that neither the attachment nor anybody else of its name is on record: no
// deleted one, and no index entry whose ADD could not be recorded. A file that cannot be
// read may be such a record, so its error refuses the adoption; a file of another boot is
// none.
func (b *DB) alone(o *guard.Owner) (bool, error) {
	if was, err := b.Owner(o.Key); was != nil || err != nil && !errors.Is(err, errOtherBoot) {
		return false, err
	}
	for _, file := range []string{queueOf(o.Key), oldQueue + strings.TrimPrefix(queueOf(o.Key), queueFile)} {
		if l, err := get[guard.QueuedDel](b, file); l != nil || err != nil && !errors.Is(err, errOtherBoot) {
			return false, err // a DEL of it is queued
		}
	}
	ix, err := get[index](b, indexOf(o.Name()))
	if err != nil && !errors.Is(err, errOtherBoot) {
		return false, err
	}
	if ix != nil && slices.ContainsFunc(ix.Owned, func(c string) bool { return c != o.Container }) {
		return false, nil
	}
	all, err := b.All()
	return err == nil && !slices.ContainsFunc(all, func(other guard.Owner) bool { return other.Name() == o.Name() }), err
}
