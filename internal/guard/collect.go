package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	young    = 10 * time.Minute
	maxShare = 5 // no more than one in five is deleted at once
)

// A Lived is an attachment that the guard has on record.
type Lived struct {
	Owner
	Gone bool // its network namespace is proven gone; not known is not gone
}

// A Cached is a result that the runtime keeps of an attachment.
type Cached struct {
	Key
	Age time.Duration
}

// Alive is all that speaks for an attachment's life.
type Alive struct {
	Failed    error    // why the runtime did not tell its sandboxes
	Sandboxes []string // container IDs of all that it told, in any state
	Recorded  []Lived
	Cached    []Cached
	Calls     []string // container IDs of the CNI calls that are running
}

// Collectable gives the attachments that nobody needs, in order, or why none may be
// deleted. Where the runtime does not answer, or says that nothing runs here, or very
// many would go at once, it is more likely that something was not seen.
func Collectable(a Alive) (keys []Key, refused string) {
	switch {
	case a.Failed != nil:
		return nil, "the runtime did not tell its sandboxes: " + a.Failed.Error()
	case len(a.Sandboxes) == 0:
		return nil, "the runtime told no sandbox at all"
	}
	valid := map[string]bool{"": true} // nothing is deleted that has no name
	for _, id := range slices.Concat(a.Sandboxes, a.Calls) {
		valid[id] = true
	}
	all := map[Key]bool{}
	for i := range a.Recorded {
		o := &a.Recorded[i]
		if o.State == Deleted {
			continue
		}
		all[o.Key] = true
		if !o.Gone && o.Holds() {
			valid[o.Container] = true
		}
	}
	for _, c := range a.Cached {
		all[c.Key] = true
		if c.Age < young {
			valid[c.Container] = true
		}
	}
	for k := range all {
		if !valid[k.Container] {
			keys = append(keys, k)
		}
	}
	if len(keys)*maxShare > len(all) {
		return nil, fmt.Sprintf("%d of %d attachments would be deleted: more than one in %d", len(keys), len(all), maxShare)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return strings.Compare(a.Network+"\x00"+a.Container+"\x00"+a.IfName, b.Network+"\x00"+b.Container+"\x00"+b.IfName)
	})
	return keys, ""
}
