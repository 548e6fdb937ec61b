package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	young    = 10 * time.Minute
	maxShare = 5 // at most one attachment in five is deleted per run
)

// A RecordedOwner is an attachment with an ownership record.
type RecordedOwner struct {
	Owner
	Gone bool // its network namespace is verified gone; false if that is not known
}

// A Cached is a CNI result of an attachment that the runtime has cached.
type Cached struct {
	Key
	Age time.Duration
}

// InUse holds everything that shows whether an attachment is in use.
type InUse struct {
	Failed    error    // why the runtime did not report its sandboxes
	Sandboxes []string // container IDs of all sandboxes that the runtime reported, in any state
	Recorded  []RecordedOwner
	Cached    []Cached
	Calls     []string // container IDs of the running CNI calls
}

// Collectable returns, sorted, the attachments that no sandbox, ownership record, recent
// result or running call needs, or the reason why none may be deleted. If the runtime does
// not answer, reports no sandbox, or very many attachments would be deleted at once, it is
// more likely that something was not read.
func Collectable(a InUse) (keys []Key, refused string) {
	switch {
	case a.Failed != nil:
		return nil, "the runtime did not report its sandboxes: " + a.Failed.Error()
	case len(a.Sandboxes) == 0:
		return nil, "the runtime reported no sandbox at all"
	}
	valid := map[string]bool{"": true} // an attachment without a container ID is never deleted
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
