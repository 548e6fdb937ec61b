package ownerdb

import (
	"errors"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// Owner returns the record of an attachment, nil if there is none. With an error the record
// is unusable: callers treat the attachment as unknown.
func (b *DB) Owner(k guard.Key) (*guard.Owner, error) {
	o, err := get[guard.Owner](b, ownerOf(k))
	if err == nil && o != nil && o.Key != k {
		return nil, errCorrupt
	}
	return o, err
}

// Newest returns the holder of a name with the highest sequence number, nil if nobody holds
// it. With an error there may be a newer one, whose record cannot be read.
func (b *DB) Newest(n guard.Name) (*guard.Owner, error) {
	all, err := b.owners(n)
	if len(all) == 0 {
		return nil, err
	}
	return &all[0], err
}

// Older returns all other holders of a name, newest first.
func (b *DB) Older(n guard.Name) ([]guard.Owner, error) {
	all, err := b.owners(n)
	return all[min(1, len(all)):], err
}

func (b *DB) owners(n guard.Name) ([]guard.Owner, error) {
	if n.Pod == "" {
		return nil, nil
	}
	ix, err := get[index](b, indexOf(n))
	if err != nil || ix == nil || ix.Name != n {
		return nil, err
	}
	var out []guard.Owner
	var errs []error
	for _, c := range ix.Owned[:min(len(ix.Owned), maxOwned)] {
		o, err := b.holder(n, c)
		if o != nil {
			out = append(out, *o)
		}
		errs = append(errs, err)
	}
	slices.SortFunc(out, newestFirst)
	return out, errors.Join(errs...)
}

func newestFirst(a, b guard.Owner) int {
	switch {
	case a.Seq > b.Seq:
		return -1
	case a.Seq < b.Seq:
		return 1
	default:
		return strings.Compare(a.Container, b.Container)
	}
}

// All returns every attachment on record, including deleted ones, newest first.
func (b *DB) All() ([]guard.Owner, error) {
	names, err := b.files.List()
	if err != nil {
		return nil, err
	}
	var out []guard.Owner
	for _, name := range names {
		if !strings.HasPrefix(name, ownerFile) || strings.HasSuffix(name, newFile) {
			continue
		}
		if o, _ := get[guard.Owner](b, name); o != nil && ownerOf(o.Key) == name {
			out = append(out, *o)
		}
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}
