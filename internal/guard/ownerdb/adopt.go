package ownerdb

import (
	"errors"
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/guard"
)

// Adopt records an attachment from before the guard: it is there, and nobody saw its ADD.
// It gets the node's next sequence number, so every ADD to come is later. Only if nobody of
// its name is on record at all: of two the order would be a guess. Adopted tells whether
// it was; without an error somebody else was there.
func (b *DB) Adopt(o guard.Owner) (adopted bool, err error) {
	for _, id := range []string{o.Network, o.Container, o.IfName, o.Namespace, o.Pod, o.UID} {
		if len(id) > maxID {
			return false, fmt.Errorf("adopt an attachment: an identifier of %d bytes is too long", len(id))
		}
	}
	if o.Pod == "" || o.Container == "" {
		return false, errors.New("adopt an attachment: it has no name")
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
	// The index first, as an ADD does: a kill in between leaves nobody.
	if err := put(b, stripe, indexOf(o.Name()), index{Name: o.Name(), Top: o.Seq, Owned: []string{o.Container}}); err != nil {
		return false, err
	}
	return true, put(b, stripe, ownerOf(o.Key), o)
}

// alone tells that neither the attachment nor anybody else of its name is on record, be it
// a deleted one, or one whose ADD could not be recorded. What cannot be read may be one.
func (b *DB) alone(o *guard.Owner) (bool, error) {
	if was, err := b.Owner(o.Key); was != nil || err != nil && !errors.Is(err, errOtherBoot) {
		return false, err
	}
	if l, err := get[guard.QueuedDel](b, laterOf(o.Key)); l != nil || err != nil && !errors.Is(err, errOtherBoot) {
		return false, err // a DEL of it is owed
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
