package loggen

import (
	"plumbline.dev/plumbline/internal/timeline"
)

// A Truth is a verdict that a history's lines must lead to.
type Truth struct {
	Cause   timeline.Cause
	Pod     string // NAMESPACE/NAME; empty for what is of a node
	Node    string
	Culprit string
	Victim  string
	// Needs are what must be shown, each by any one of some lines. If all lines of one were
	// lost, nothing else can show it, and who misses the verdict is excused.
	Needs [][]int
	Scene string
}

// Excused reports whether the lines that are left cannot show it.
func (h *History) Excused(t *Truth) bool {
	for _, need := range t.Needs {
		left := false
		for _, i := range need {
			left = left || !h.lines[i].dropped
		}
		if !left {
			return true
		}
	}
	return false
}

// that gives those lines that hold one of some words.
func (h *History) that(lines []int, words ...string) []int {
	var out []int
	for _, i := range lines {
		if holds(h.lines[i].shows, words) {
			out = append(out, i)
		}
	}
	return out
}

// Key tells truths and verdicts of one cause apart.
func (t *Truth) Key() Key {
	k := Key{Cause: t.Cause, Pod: t.Pod}
	switch t.Cause {
	case timeline.LateDel, timeline.AddWithoutDel, timeline.AddressMoved:
		k.Culprit, k.Victim = t.Culprit, t.Victim
	case timeline.RetriedDel, timeline.DelNeverCame:
		k.Culprit = t.Culprit
	case timeline.ReleasedInUse:
		k.Victim = t.Victim
	case timeline.StaleNodename:
		k.Pod, k.Node = "", t.Node
	case timeline.TeardownBlocked:
		if t.Pod == "" {
			k.Node, k.Culprit = t.Node, t.Culprit
		}
	case timeline.Credential:
		if t.Pod == "" {
			k.Node = t.Node
		}
	}
	return k
}

// A Key is what must agree for a verdict to be the right one.
type Key struct {
	Cause                      timeline.Cause
	Pod, Node, Culprit, Victim string
}

// KeyOf gives a verdict's key.
func KeyOf(v *timeline.Verdict) Key {
	t := Truth{Cause: v.Cause, Pod: v.Pod, Node: v.Node, Culprit: v.Culprit, Victim: v.Victim}
	return t.Key()
}
