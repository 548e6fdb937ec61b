package ownerdb

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/guard"
)

// A Deleter is a process that hands a DEL of a name to the delegate, or did.
type Deleter struct {
	Container string `json:"container"`
	PID       int    `json:"pid"`
	Start     uint64 `json:"start"` // when the process began, in ticks after the boot
}

// maxDeleters is how many of a name are kept, the latest. Those that have ended mean
// nothing, and are not taken out: that would be one more write for every DEL.
const maxDeleters = 8

// Deleting says that a DEL of a name is about to be decided. Whoever says so first and
// reads the record then, and whoever begins an ADD first and reads the deleters then,
// cannot both miss the other.
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

// Deleters gives those of a name, whether they live or not.
func (b *DB) Deleters(n guard.Name) ([]Deleter, error) {
	ix, err := get[index](b, indexOf(n))
	if err != nil || ix == nil || ix.Name != n {
		return nil, err
	}
	return ix.Deleters, nil
}
