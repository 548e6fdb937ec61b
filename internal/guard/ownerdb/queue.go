package ownerdb

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// Queue keeps a DEL that must still come. An attachment has one, at the latest time that
// was asked for: whatever it waits for is over then. The time of one that was put off is
// no such time.
func (b *DB) Queue(l guard.QueuedDel) error {
	for _, id := range []string{l.Network, l.Container, l.IfName, l.Namespace, l.Pod, l.UID} {
		if len(id) > maxID {
			return fmt.Errorf("queue a DEL: an identifier of %d bytes is too long", len(id))
		}
	}
	stripe, unlock, err := b.lock(l.Name(), l.Key())
	if err != nil {
		return fmt.Errorf("queue a DEL: %w", err)
	}
	defer unlock()
	if was, _ := get[guard.QueuedDel](b, laterOf(l.Key())); was != nil && was.Tries == 0 {
		l.At = max(l.At, was.At)
	}
	if err := put(b, stripe, laterOf(l.Key()), l); err != nil {
		return fmt.Errorf("queue a DEL: %w", err)
	}
	return nil
}

// Queued gives all that must still come, what is due first.
func (b *DB) Queued() ([]guard.QueuedDel, error) {
	names, err := b.files.List()
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	var out []guard.QueuedDel
	for _, name := range names {
		if !strings.HasPrefix(name, queueFile) || strings.HasSuffix(name, newFile) {
			continue
		}
		if l, _ := get[guard.QueuedDel](b, name); l != nil && laterOf(l.Key()) == name {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(a, b guard.QueuedDel) int {
		if a.At != b.At {
			return int(max(-1, min(1, a.At-b.At)))
		}
		return strings.Compare(a.Container, b.Container)
	})
	return out, nil
}

// Bounds of the time by which a DEL is put off, in seconds: it doubles.
const (
	firstPause = int64(60)
	maxPause   = int64(30 * 60)
)

// Postpone puts off a DEL that did not come to its end, unless it was queued again since.
// rest tells that what is the container's was released. now is in seconds after the boot.
func (b *DB) Postpone(l guard.QueuedDel, rest bool, now int64) error {
	stripe, unlock, err := b.lock(l.Name(), l.Key())
	if err != nil {
		return fmt.Errorf("put off a DEL: %w", err)
	}
	defer unlock()
	if !b.IsQueued(l) {
		return nil
	}
	l.At = now + min(maxPause, firstPause<<min(l.Tries, 10))
	l.Tries, l.Rest = l.Tries+1, l.Rest || rest
	if err := put(b, stripe, laterOf(l.Key()), l); err != nil {
		return fmt.Errorf("put off a DEL: %w", err)
	}
	return nil
}

// IsQueued tells whether a DEL is still to come as it was queued. A new ADD of the attachment
// takes it out.
func (b *DB) IsQueued(l guard.QueuedDel) bool {
	now, err := get[guard.QueuedDel](b, laterOf(l.Key()))
	return err == nil && now != nil && *now == l
}

// Replayed takes out a DEL that has come to its end, unless it was queued again since. A
// runtime's own DEL takes nothing out: what is queued may be for a delegate that has
// outlived its guard and not yet come to its end.
func (b *DB) Replayed(l guard.QueuedDel) error {
	_, unlock, err := b.lock(l.Name(), l.Key())
	if err != nil {
		return fmt.Errorf("take a DEL out of the queue: %w", err)
	}
	defer unlock()
	if now, _ := get[guard.QueuedDel](b, laterOf(l.Key())); now != nil && *now != l {
		return nil
	}
	return b.Unqueue(l.Key())
}

// Unqueue takes out a DEL, whatever it was queued for.
func (b *DB) Unqueue(k guard.Key) error {
	if err := b.files.Remove(laterOf(k)); err != nil {
		return fmt.Errorf("take a DEL out of the queue: %w", err)
	}
	return nil
}
