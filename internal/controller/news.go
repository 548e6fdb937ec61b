package controller

import (
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/controller/objects"
)

// news chooses the Events. Told is of a state that is stored, once, and at most once a minute of one object.
type news struct {
	open map[string]objects.Transition // the last of each object that was not told yet
	told map[string]told
}

type told struct {
	state string
	at    time.Duration // 0: by an earlier leader
}

func newNews(have []v1alpha1.Finding) *news {
	n := &news{open: map[string]objects.Transition{}, told: map[string]told{}}
	for _, f := range have {
		n.told[f.Name] = told{state: f.Status.State}
	}
	return n
}

// take takes over what changed; of objects that are not wanted nothing is told.
func (n *news) take(all []objects.Transition, want []v1alpha1.Finding) {
	for _, t := range all {
		n.open[t.Object] = t
	}
	wanted := map[string]bool{}
	for _, f := range want {
		wanted[f.Name] = true
	}
	maps.DeleteFunc(n.open, func(name string, _ objects.Transition) bool { return !wanted[name] })
	maps.DeleteFunc(n.told, func(name string, _ told) bool { return !wanted[name] })
}

// next is what can be told now.
func (n *news) next(have map[string]v1alpha1.Finding, now time.Duration) (objects.Transition, bool) {
	for _, name := range slices.Sorted(maps.Keys(n.open)) {
		t, last := n.open[name], n.told[name]
		switch {
		case have[name].Status.State != t.State: // not stored yet
		case last.state == t.State: // it came back to what was told
			delete(n.open, name)
		case last.at == 0 || now-last.at >= betweenUpdates:
			return t, true
		}
	}
	return objects.Transition{}, false
}

// done notes what was told.
func (n *news) done(t objects.Transition, now time.Duration) {
	n.told[t.Object] = told{t.State, now}
	if n.open[t.Object] == t {
		delete(n.open, t.Object)
	}
}
