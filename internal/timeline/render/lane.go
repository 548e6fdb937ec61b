package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// A lane is one sandbox.
type lane struct {
	*timeline.Sandbox
	title     string
	concerned bool // a verdict names it
}

// noLane is the lane of events without a sandbox, such as a kubelet's start.
const noLane = -1

// lanes finds the lane of an event.
type lanes struct {
	all   []lane
	byID  map[string][]int // by the first characters
	byUID map[string][]int
}

func lanesOf(s *timeline.Story) *lanes {
	l := &lanes{byID: map[string][]int{}, byUID: map[string][]int{}}
	titles := map[string]int{}
	for i := range s.Sandboxes {
		box := &s.Sandboxes[i]
		l.all = append(l.all, lane{Sandbox: box, title: short(box.ID)})
		titles[short(box.ID)]++
		l.byID[head(box.ID)] = append(l.byID[head(box.ID)], i)
		if box.UID != "" {
			l.byUID[box.UID] = append(l.byUID[box.UID], i)
		}
	}
	for i := range l.all {
		if titles[l.all[i].title] > 1 {
			l.all[i].title = clean(l.all[i].ID[:min(len(l.all[i].ID), 12)])
		}
		l.all[i].title = cmp.Or(l.all[i].title, "unnamed")
	}
	for i := range s.Verdicts {
		for _, id := range []string{s.Verdicts[i].Culprit, s.Verdicts[i].Victim} {
			if n := l.sandbox(id); n != noLane {
				l.all[n].concerned = true
			}
		}
	}
	return l
}

func head(id string) string { return id[:min(len(id), shortID)] }

// sandbox gives the lane of a sandbox by its ID, of which one may be a prefix of the other.
func (l *lanes) sandbox(id string) int {
	if id == "" {
		return noLane
	}
	for _, i := range l.byID[head(id)] {
		if own := l.all[i].ID; strings.HasPrefix(own, id) || strings.HasPrefix(id, own) {
			return i
		}
	}
	return noLane
}

// event gives the lane of an event: that of its sandbox, or of its pod's UID. If the UID had
// several sandboxes, it is the last that was added before the event.
func (l *lanes) event(e *timeline.Event) int {
	if e.Sandbox != "" {
		return l.sandbox(e.Sandbox)
	}
	if e.UID == "" {
		return noLane
	}
	found := noLane
	for _, i := range l.byUID[e.UID] {
		if found == noLane || !l.all[i].Added.IsZero() && !l.all[i].Added.After(e.At) {
			found = i
		}
	}
	return found
}

// nodes gives the nodes of a story in order of appearance.
func nodes(s *timeline.Story) []string {
	var names []string
	see := func(n string) {
		if n != "" && !slices.Contains(names, n) && len(names) < 64 {
			names = append(names, n)
		}
	}
	for i := range s.Sandboxes {
		see(s.Sandboxes[i].Node)
	}
	for i := range s.Events {
		see(s.Events[i].Node)
	}
	for i := range names {
		names[i] = clean(names[i])
	}
	return names
}

// days gives the first and the last day of a story, each as a date; both are empty if
// no line had a time.
func days(s *timeline.Story, zone *time.Location) (first, last string) {
	var from, to time.Time
	for i := range s.Events {
		at := s.Events[i].At
		if at.IsZero() {
			continue
		}
		if from.IsZero() || at.Before(from) {
			from = at
		}
		if at.After(to) {
			to = at
		}
	}
	if from.IsZero() {
		return "", ""
	}
	return from.In(zone).Format(time.DateOnly), to.In(zone).Format(time.DateOnly)
}
