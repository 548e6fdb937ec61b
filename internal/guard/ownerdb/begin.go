package ownerdb

import (
	"errors"
	"fmt"

	"plumbline.dev/plumbline/internal/guard"
)

// An index is what is known of a name. Since when its holders hold it, and whether they
// still do, is in their own records: it only says where to look.
type index struct {
	Name  guard.Name `json:"name"`
	Top   uint64     `json:"top"`   // the highest sequence number that it ever had
	Owned []string   `json:"owned"` // the containers, the latest ADD's last

	Deleters []Deleter `json:"deleters,omitempty"` // who hands a DEL on, or did, the latest last
}

// Bounds of an index: beyond the first its dead are looked for, beyond the second the
// oldest go.
const (
	fewOwned = 4
	maxOwned = 64
)

// Begin records that an ADD begins, before anything is done for it, and gives it the
// node's next sequence number. The index comes first: a kill in between leaves an entry
// without an owner, which is nobody.
func (b *DB) Begin(o guard.Owner) (guard.Owner, error) {
	for _, id := range []string{o.Network, o.Container, o.IfName, o.Namespace, o.Pod, o.UID} {
		if len(id) > maxID {
			return o, fmt.Errorf("record an ADD: an identifier of %d bytes is too long", len(id))
		}
	}
	o.State, o.Again = guard.Adding, false
	begun, err := b.begin(o)
	if err != nil {
		// What an earlier ADD of the attachment left is of a lower sequence, and would
		// make it look old. Unknown is better.
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
	if err := b.Unqueue(o.Key); err != nil { // a DEL that was owed to an earlier ADD is not owed to this one
		return o, err
	}
	ix := b.index(o.Name())
	if o.Seq, err = b.next(ix.Top); err != nil {
		return o, err
	}
	if o.Pod != "" {
		ix.Top = o.Seq
		ix.Owned = append(b.runningSandbox(&ix, o.Container), o.Container)
		if err := put(b, stripe, indexOf(o.Name()), ix); err != nil {
			return o, err
		}
	}
	if err := put(b, stripe, ownerOf(o.Key), o); err != nil {
		return o, err
	}
	return o, nil
}

// index reads a name's index. One that cannot be read is begun anew.
func (b *DB) index(n guard.Name) index {
	ix, _ := get[index](b, indexOf(n))
	if ix == nil || ix.Name != n {
		return index{Name: n}
	}
	return *ix
}

// runningSandbox gives an index's containers without the one that is added again and, if they
// are many, without those that do not hold the name any more.
func (b *DB) runningSandbox(ix *index, again string) []string {
	var out []string
	for _, c := range ix.Owned {
		if c == again || len(ix.Owned) > fewOwned && b.holder(ix.Name, c) == nil {
			continue
		}
		out = append(out, c)
	}
	return out[max(0, len(out)-maxOwned+1):]
}

// holder gives a container's record, if it holds the name.
func (b *DB) holder(n guard.Name, container string) *guard.Owner {
	o, _ := b.Owner(guard.Key{Network: n.Network, Container: container, IfName: n.IfName})
	if o == nil || o.Name() != n || !o.Holds() {
		return nil
	}
	return o
}
