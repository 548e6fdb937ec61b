package ownerdb

import (
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/guard"
)

// End records what became of an attachment: o is what Begin or Owner gave, changed. If
// it was added again or deleted since, nothing is changed.
func (b *DB) End(o guard.Owner) error {
	err := b.end(&o)
	if err == nil || errors.Is(err, ErrReplaced) {
		return err
	}
	err = fmt.Errorf("record what became of an attachment: %w", err)
	if o.State == guard.Deleted {
		// It would go on as the owner of its name, and others would be late because of
		// it. A full disk still lets files be removed.
		err = errors.Join(err, b.files.Remove(ownerOf(o.Key)))
	}
	return err
}

func (b *DB) end(o *guard.Owner) error {
	stripe, unlock, err := b.lock(o.Name(), o.Key)
	if err != nil {
		return err
	}
	defer unlock()
	was, err := b.Owner(o.Key)
	switch {
	case err != nil:
		return err
	case was == nil:
		return nil // forgotten: it stays unknown
	case was.Seq != o.Seq || was.Name() != o.Name():
		return ErrReplaced
	case was.State == guard.Deleted && o.State != guard.Deleted, !was.Holds() && o.Holds():
		return ErrReplaced // an ADD that ends after its DEL gives the name to nobody
	}
	return put(b, stripe, ownerOf(o.Key), *o)
}
