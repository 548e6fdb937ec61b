package ownerdb

import (
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/guard"
)

// An index lists the containers that had an ADD for a name. It only says where to look:
// whether a container still holds the name, and since which ADD, is in its own record. A
// listed container without a record, or whose record has another name or does not hold it,
// is nobody.
type index struct {
	Name  guard.Name `json:"name"`
	Top   uint64     `json:"top"`   // invariant: Top >= Seq of every record of this name
	Owned []string   `json:"owned"` // containers, the latest ADD last; at most maxOwned

	Deleters []Deleter `json:"deleters,omitempty"` // processes that pass on a DEL of the name, or did, the latest last
}

// Bounds of an index: above fewOwned, entries that no longer hold the name are dropped;
// above maxOwned, the oldest entries are.
const (
	fewOwned = 4
	maxOwned = 64
)

// Begin records that an ADD begins, before anything is done for it, and gives it the node's
// next sequence number.
//
// A kill leaves, in order of the writes: the queued DEL of an earlier ADD removed; a gap in
// the sequence; the index with the container but without the new record (nobody, or the
// earlier record with its lower Seq); the complete record. The delegate has not been called
// in any of these cases.
func (b *DB) Begin(o guard.Owner) (guard.Owner, error) {
	for _, id := range []string{o.Network, o.Container, o.IfName, o.Namespace, o.Pod, o.UID} {
		if len(id) > maxID {
			return o, fmt.Errorf("record an ADD: an identifier of %d bytes is too long", len(id))
		}
	}
	o.State, o.Again = guard.Adding, false
	begun, err := b.begin(o)
	if err != nil {
		// A record that an earlier ADD of the attachment left has a lower sequence number,
		// and a newer owner would make its DEL late. Without a record the DEL is passed on.
		return o, errors.Join(fmt.Errorf("record an ADD: %w", err), b.files.Remove(ownerOf(o.Key)))
	}
	if begun.Seq%trimEvery == 0 {
		b.trim()
	}
	return begun, nil
}

func (b *DB) begin(o guard.Owner) (guard.Owner, error) {
	stripe, unlock, err := b.lock(o.Name(), o.Key)
	if err != nil {
		return o, err
	}
	defer unlock()
	was, err := b.Owner(o.Key)
	o.Again = was != nil && was.State != guard.Deleted || err != nil && !errors.Is(err, errOtherBoot)
	if err := b.Unqueue(o.Key); err != nil { // a queued DEL belongs to an earlier ADD
		return o, err
	}
	ix := b.index(o.Name())
	if o.Seq, err = b.next(ix.Top); err != nil {
		return o, err
	}
	if o.Pod != "" {
		ix.Top = o.Seq
		ix.Owned = append(b.holders(&ix, o.Container), o.Container)
		if err := put(b, stripe, indexOf(o.Name()), ix); err != nil {
			return o, err
		}
	}
	if err := put(b, stripe, ownerOf(o.Key), o); err != nil {
		return o, err
	}
	return o, nil
}

// index reads a name's index. An unreadable one is replaced by an empty one.
func (b *DB) index(n guard.Name) index {
	ix, _ := get[index](b, indexOf(n))
	if ix == nil || ix.Name != n {
		return index{Name: n}
	}
	return *ix
}

// holders returns the containers of an index without the one that is added again and, if
// they are many, without those that no longer hold the name.
func (b *DB) holders(ix *index, again string) []string {
	var out []string
	for _, c := range ix.Owned {
		if c == again {
			continue
		}
		if o, err := b.holder(ix.Name, c); len(ix.Owned) > fewOwned && o == nil && err == nil {
			continue
		}
		out = append(out, c)
	}
	return out[max(0, len(out)-maxOwned+1):]
}

// holder returns the container's record if it holds the name, else nil. With an error it is
// unknown whether it does.
func (b *DB) holder(n guard.Name, container string) (*guard.Owner, error) {
	o, err := b.Owner(guard.Key{Network: n.Network, Container: container, IfName: n.IfName})
	if err != nil && !errors.Is(err, errOtherBoot) {
		return nil, fmt.Errorf("read the record of container %.64s: %w", container, err)
	}
	if o == nil || o.Name() != n || !o.Holds() {
		return nil, nil
	}
	return o, nil
}
