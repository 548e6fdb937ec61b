package loggen

import (
	"plumbline.dev/plumbline/internal/timeline"
)

// A Truth is a verdict that must be found in a history's lines.
type Truth struct {
	Cause   timeline.Cause
	Pod     string // NAMESPACE/NAME; empty for a verdict about a node
	Node    string
	Culprit string
	Victim  string
	// Needs are sets of lines, by number: at least one line of each set is needed for the
	// verdict. If all lines of a set were dropped, a missing verdict is excused.
	Needs [][]int
	Scene string
}

// Excused reports whether the lines that were not dropped cannot show it.
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

// that gives those of the lines that contain one of the words.
func (h *History) that(lines []int, words ...string) []int {
	var out []int
	for _, i := range lines {
		if holds(h.lines[i].shows, words) {
			out = append(out, i)
		}
	}
	return out
}

// Key gives what identifies a truth or a verdict of one cause.
func (t *Truth) Key() Key {
	k := Key{Cause: t.Cause, Pod: t.Pod}
	switch t.Cause {
	case timeline.LateDel, timeline.AddWithoutDel, timeline.AddressMoved:
		k.Culprit, k.Victim = t.Culprit, t.Victim
	case timeline.RetriedDel, timeline.DelNeverCame:
		k.Culprit = t.Culprit
	case timeline.ReleasedInUse:
		k.Victim = t.Victim
	case timeline.FailingAdd, timeline.DuplicateAddress, timeline.NoGateway, timeline.LegacyHandle: // the last three are of listings, which are not generated
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

// A Key is what must be equal for a verdict to be the expected one.
type Key struct {
	Cause                      timeline.Cause
	Pod, Node, Culprit, Victim string
}

// KeyOf gives a verdict's key.
func KeyOf(v *timeline.Verdict) Key {
	t := Truth{Cause: v.Cause, Pod: v.Pod, Node: v.Node, Culprit: v.Culprit, Victim: v.Victim}
	return t.Key()
}
