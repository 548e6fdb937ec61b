package ownerdb

import (
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/guard"
)

// End records the result of an attachment: o is what Begin or Owner returned, changed. If
// the attachment was added again or deleted since, nothing is changed and errReplaced is
// returned. It is a single put: a kill leaves the old or the new record.
func (b *DB) End(o guard.Owner) error {
	err := b.end(&o)
	if err == nil || errors.Is(err, errReplaced) {
		return err
	}
	err = fmt.Errorf("record the result of an attachment: %w", err)
	if o.State == guard.Deleted {
		// The record would remain the owner of its name, and DELs of others would be late
		// because of it. Files can be removed even if the disk is full.
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
		return nil // Forget removed the record: the attachment stays unknown
	case was.Seq != o.Seq || was.Name() != o.Name():
		return errReplaced
	case was.State == guard.Deleted && o.State != guard.Deleted, !was.Holds() && o.Holds():
		return errReplaced // an ADD that ends after its DEL must not own the name again
	}
	return put(b, stripe, ownerOf(o.Key), *o)
}
