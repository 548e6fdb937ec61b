package ownerdb

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/guard"
)

// A Deleter is a process that passes a DEL of a name to the delegate, or did.
type Deleter struct {
	Container string `json:"container"`
	PID       int    `json:"pid"`
	Start     uint64 `json:"start"` // start time of the process, in ticks after boot
}

// maxDeleters is how many deleters of a name are kept, the latest. Ended ones have no
// effect and are not removed: that would cost one more write per DEL.
const maxDeleters = 8

// Deleting records that a DEL of a name is about to be decided. A DEL writes its deleter
// and then reads the owners; an ADD writes its owner and then reads the deleters. So at
// least one of the two sees the other.
func (b *DB) Deleting(n guard.Name, d Deleter) error {
	if n.Pod == "" {
		return nil
	}
	for _, id := range []string{n.Network, n.Namespace, n.Pod, n.IfName, d.Container} {
		if len(id) > maxID {
			return fmt.Errorf("record a DEL: an identifier of %d bytes is too long", len(id))
		}
	}
	stripe, unlock, err := b.lock(n, guard.Key{})
	if err != nil {
		return fmt.Errorf("record a DEL: %w", err)
	}
	defer unlock()
	ix, err := get[index](b, indexOf(n))
	if err != nil {
		return fmt.Errorf("record a DEL: %w", err)
	}
	if ix == nil || ix.Name != n {
		ix = &index{Name: n}
	}
	if slices.Contains(ix.Deleters, d) {
		return nil
	}
	ix.Deleters = append(ix.Deleters[max(0, len(ix.Deleters)-maxDeleters+1):], d)
	if err := put(b, stripe, indexOf(n), *ix); err != nil {
		return fmt.Errorf("record a DEL: %w", err)
	}
	return nil
}

// Deleters returns the deleters of a name, running or ended.
func (b *DB) Deleters(n guard.Name) ([]Deleter, error) {
	ix, err := get[index](b, indexOf(n))
	if err != nil || ix == nil || ix.Name != n {
		return nil, err
	}
	return ix.Deleters, nil
}
