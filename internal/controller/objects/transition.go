package objects

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/api/v1alpha1"
)

// A Transition is a change of a group's state that people are told of.
type Transition struct {
	Object string // the name of the Finding
	State  string // what it became
	Bad    bool   // rather a warning than good news
	Says   string
}

// maxEvent is the longest text of an Event.
const maxEvent = 900

// changed reports whether a group changed in a way that people must know, and the text of its
// Event. Events about objects without a namespace are in the namespace default, whose readers may
// not read others: the text names no pod.
func (g *group) changed(was, name, title string) (Transition, bool) {
	t := Transition{Object: name, State: g.state}
	if was == g.state || was == "" && g.state == v1alpha1.StateSuppressed {
		return t, false
	}
	switch g.state {
	case v1alpha1.StateConfirmed:
		t.Bad = true
		t.Says = fmt.Sprintf("%s: %s; %d in %s", g.code, title, g.count, g.where())
	case v1alpha1.StateNotChecked:
		t.Bad = true
		t.Says = fmt.Sprintf("%s: %d in %s cannot be checked any more: %s", g.code, g.unchecked, g.where(), g.why)
	case v1alpha1.StateSuppressed:
		t.Says = fmt.Sprintf("%s: suppressed in %s", g.code, g.where())
	default:
		t.Says = fmt.Sprintf("%s: none is left in %s", g.code, g.where())
	}
	t.Says = Bounded(t.Says, maxEvent)
	return t, true
}

func (g *group) where() string {
	if g.in.Kind == "Cluster" {
		return "the cluster"
	}
	return strings.ToLower(g.in.Kind) + " " + g.in.Name
}
