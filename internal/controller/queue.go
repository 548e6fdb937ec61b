package controller

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/finding"
)

// The pace of writes: scanners that wrote as fast as they could have brought API servers down.
const (
	betweenWrites  = 200 * time.Millisecond // of all objects, and Events
	betweenUpdates = time.Minute            // of one object, and of Events about it
	refreshAfter   = 10 * time.Minute       // if nothing but LastSeen changed
	longestPause   = 5 * time.Minute        // after writes of one object that failed
)

// An action is one write.
type action string

const (
	create  action = "create"
	update  action = "update"
	refresh action = "refresh"
	remove  action = "delete"
)

// A job is the next thing to write.
type job struct {
	action action
	object v1alpha1.Finding // as it is to be; for remove as it is
}

// A queue chooses what is written next. Times are of observe.Uptime.
type queue struct {
	have  map[string]v1alpha1.Finding // as the API server has them
	wrote map[string]time.Duration    // when an object was last written, also of those that are gone
	fails map[string]failure
}

// A failure keeps a write that is refused from stopping the others.
type failure struct {
	times int
	again time.Duration
}

func newQueue(have []v1alpha1.Finding) *queue {
	q := &queue{wrote: map[string]time.Duration{}, fails: map[string]failure{}}
	q.read(have)
	return q
}

// read takes over what is there.
func (q *queue) read(all []v1alpha1.Finding) {
	q.have = map[string]v1alpha1.Finding{}
	for _, f := range all {
		q.have[f.Name] = f
	}
}

// done notes that an object was written.
func (q *queue) done(name string, now time.Duration) {
	q.wrote[name] = now
	delete(q.fails, name)
	for old, at := range q.wrote { // none is needed for longer
		if now-at > betweenUpdates {
			delete(q.wrote, old)
		}
	}
}

// failed notes that a write failed: it is tried again later, and later each time.
func (q *queue) failed(name string, now time.Duration) {
	f := q.fails[name]
	f.again = now + min(longestPause, 5*time.Second<<min(f.times, 10))
	f.times++
	q.fails[name] = f
}

// rests tells that an object was just written, or that its last write failed.
func (q *queue) rests(name string, now time.Duration) bool {
	at, wrote := q.wrote[name]
	return wrote && now-at < betweenUpdates || now < q.fails[name].again
}

// next chooses the next write: what is new before what changed, the worse before the others; but where there are
// as many objects as there may be, what goes makes room first.
func (q *queue) next(want []v1alpha1.Finding, now time.Duration) (job, bool) {
	var all []job
	wanted := map[string]bool{}
	for _, w := range want {
		h, there := q.have[w.Name]
		foreign := there && h.Spec != w.Spec // its spec cannot be changed
		wanted[w.Name] = !foreign
		switch {
		case foreign:
		case there && h.Status.State == "": // created, and the status not written yet
			if now >= q.fails[w.Name].again {
				all = append(all, job{update, from(&w, &h)})
			}
		case q.rests(w.Name, now):
		case !there:
			all = append(all, job{create, w})
		case !same(&h.Status, &w.Status):
			all = append(all, job{update, from(&w, &h)})
		case w.Status.LastSeen.Sub(h.Status.LastSeen.Time) >= refreshAfter:
			all = append(all, job{refresh, from(&w, &h)})
		}
	}
	for name, h := range q.have {
		if !wanted[name] && now >= q.fails[name].again {
			all = append(all, job{remove, h})
		}
	}
	if len(all) == 0 {
		return job{}, false
	}
	order := []action{create, update, remove, refresh}
	if len(q.have) >= v1alpha1.MaxFindings {
		order = []action{remove, update, refresh, create}
	}
	j := slices.MinFunc(all, func(a, b job) int { return before(order, a, b) })
	return j, j.action != create || len(q.have) < v1alpha1.MaxFindings
}

// from is an object as it is to be, with the identity of the one that it replaces.
func from(w, h *v1alpha1.Finding) v1alpha1.Finding {
	o := *h
	o.TypeMeta, o.Status = w.TypeMeta, w.Status
	return o
}

func before(order []action, a, b job) int {
	if n := slices.Index(order, a.action) - slices.Index(order, b.action); n != 0 {
		return n
	}
	level := func(j job) int { return finding.Severity(j.object.Status.Severity).Level() }
	if n := level(b) - level(a); n != 0 {
		return n
	}
	return strings.Compare(a.object.Name, b.object.Name)
}

// same tells that two statuses say the same, but for when it was last seen.
func same(a, b *v1alpha1.FindingStatus) bool {
	x, y := *a, *b
	x.LastSeen, y.LastSeen = v1alpha1.Time{}, v1alpha1.Time{}
	x.Samples, y.Samples = inUTC(x.Samples), inUTC(y.Samples)
	x.Conditions, y.Conditions = nil, nil
	for _, t := range []*v1alpha1.Time{&x.FirstSeen, &x.ResolvedAt, &y.FirstSeen, &y.ResolvedAt} {
		t.Time = t.UTC()
	}
	return reflect.DeepEqual(x, y) && sameConditions(a.Conditions, b.Conditions)
}

// inUTC makes times comparable: those that were read are in the zone of this process.
func inUTC(all []v1alpha1.FindingSample) []v1alpha1.FindingSample {
	var out []v1alpha1.FindingSample
	for _, s := range all {
		s.Since.Time = s.Since.UTC()
		out = append(out, s)
	}
	return out
}

func sameConditions(a, b []v1alpha1.Condition) bool {
	return slices.EqualFunc(a, b, func(x, y v1alpha1.Condition) bool {
		return x.Type == y.Type && x.Status == y.Status && x.Reason == y.Reason && x.Message == y.Message
	})
}
