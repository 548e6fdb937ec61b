package ownerdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
)

// Queue stores a DEL that the guard must still carry out. An attachment has at most one, at
// the latest time that was asked for, because everything that it waits for is over by then.
// The time of a postponed DEL is a retry delay and is not kept.
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
	if was, _ := get[guard.QueuedDel](b, queueOf(l.Key())); was != nil && was.Tries == 0 {
		l.At = max(l.At, was.At)
	}
	if err := put(b, stripe, queueOf(l.Key()), l); err != nil {
		return fmt.Errorf("queue a DEL: %w", err)
	}
	return nil
}

// Queued returns all queued DELs, the first due first.
func (b *DB) Queued() ([]guard.QueuedDel, error) {
	names, err := b.files.List()
	if err != nil {
		return nil, fmt.Errorf("read the queue: %w", err)
	}
	var out []guard.QueuedDel
	for _, name := range names {
		if hash, old := strings.CutPrefix(name, oldQueue); old && !strings.HasSuffix(name, newFile) {
			name = b.takeOver(name, queueFile+hash)
		}
		if !strings.HasPrefix(name, queueFile) || strings.HasSuffix(name, newFile) {
			continue
		}
		if l, _ := get[guard.QueuedDel](b, name); l != nil && queueOf(l.Key()) == name {
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

// takeOver renames the file of a queued DEL that an earlier version wrote. If the attachment
// has a newer one, or its DEL cannot be read, the old file is removed or left to sweep, and
// the result is empty.
func (b *DB) takeOver(old, name string) string {
	l, _ := get[guard.QueuedDel](b, old)
	if l == nil || queueOf(l.Key()) != name {
		return ""
	}
	_, unlock, err := b.lock(l.Name(), l.Key())
	if err != nil {
		return ""
	}
	defer unlock()
	if still, _ := get[guard.QueuedDel](b, old); still == nil {
		return "" // a new ADD removed it meanwhile
	}
	if now, _ := get[guard.QueuedDel](b, name); now != nil {
		_ = b.files.Remove(old)
		return "" // in the list under its own name
	}
	if b.files.Rename(old, name) != nil {
		return ""
	}
	return name
}

// Bounds of the delay by which a DEL is postponed, in seconds. It doubles each time.
const (
	firstPause = int64(60)
	maxPause   = int64(30 * 60)
)

// Postpone delays a DEL that was tried without success, unless it was queued again since.
// rest says that what the plugin finds by container ID was released. now is in seconds
// after boot.
func (b *DB) Postpone(l guard.QueuedDel, rest bool, now int64) error {
	stripe, unlock, err := b.lock(l.Name(), l.Key())
	if err != nil {
		return fmt.Errorf("postpone a DEL: %w", err)
	}
	defer unlock()
	if !b.IsQueued(l) {
		return nil
	}
	l.At = now + min(maxPause, firstPause<<min(l.Tries, 10))
	l.Tries, l.Rest = l.Tries+1, l.Rest || rest
	if err := put(b, stripe, queueOf(l.Key()), l); err != nil {
		return fmt.Errorf("postpone a DEL: %w", err)
	}
	return nil
}

// IsQueued reports whether a DEL is still queued unchanged. A new ADD of the attachment
// removes it.
func (b *DB) IsQueued(l guard.QueuedDel) bool {
	now, err := get[guard.QueuedDel](b, queueOf(l.Key()))
	return err == nil && now != nil && *now == l
}

// Replayed removes a DEL that is done, unless it was queued again since. A DEL of the
// runtime removes nothing: the queued one may wait for a delegate that still runs after its
// guard has exited.
func (b *DB) Replayed(l guard.QueuedDel) error {
	_, unlock, err := b.lock(l.Name(), l.Key())
	if err != nil {
		return fmt.Errorf("remove a DEL from the queue: %w", err)
	}
	defer unlock()
	if now, _ := get[guard.QueuedDel](b, queueOf(l.Key())); now != nil && *now != l {
		return nil
	}
	return b.Unqueue(l.Key())
}

// Unqueue removes the queued DEL of an attachment, whatever the reason for it.
func (b *DB) Unqueue(k guard.Key) error {
	file := queueOf(k)
	if err := errors.Join(b.files.Remove(file), b.files.Remove(oldQueue+strings.TrimPrefix(file, queueFile))); err != nil {
		return fmt.Errorf("remove a DEL from the queue: %w", err)
	}
	return nil
}
