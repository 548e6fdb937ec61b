package objects

import (
	"cmp"
	"slices"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// A group is all findings of one code that belong together.
type group struct {
	code     finding.Code
	in       v1alpha1.FindingGroup
	state    string
	severity finding.Severity
	samples  []*entry // the first by name
	unnamed  int64    // what an earlier leader counted and this one does not know by name yet
	placed   bool     // it has an object

	unnamedHidden, uncheckedHidden int64 // likewise, of what was suppressed
	unnamedUnread                  bool  // the earlier leader could not read them either

	count, suppressed, unchecked int64
	why                          string // why some are not checked
	hidden                       finding.Severity

	first, last, resolved model.Time
	earlier               model.Time // first, of the last report
	conditions            map[string]condition
}

// clear begins a new count. Severity and times of an earlier leader stay while its findings do.
func (g *group) clear() {
	g.count, g.suppressed, g.unchecked, g.uncheckedHidden, g.why, g.samples, g.hidden, g.earlier = 0, 0, 0, 0, "", nil, "", g.first
	if g.unnamed == 0 {
		g.first = 0
	}
}

// add counts a finding.
func (g *group) add(e *entry) {
	if e.suppressed {
		g.suppressed++
		if e.why != "" {
			g.uncheckedHidden++
			g.say(e.why)
		} else {
			g.last = max(g.last, e.seen)
		}
		if e.severity.Level() > g.hidden.Level() {
			g.hidden = e.severity
		}
		return
	}
	if g.count == 0 && g.unnamed == 0 || e.severity.Level() > g.severity.Level() {
		g.severity = e.severity
	}
	g.count++
	if g.first.IsZero() || e.first < g.first {
		g.first = e.first
	}
	if e.why != "" {
		g.unchecked++
		g.say(e.why)
	} else {
		g.last = max(g.last, e.seen)
	}
	at, _ := slices.BinarySearchFunc(g.samples, e, func(a, b *entry) int { return cmp.Compare(a.sample.Subject, b.sample.Subject) })
	if at < v1alpha1.MaxSamples {
		g.samples = slices.Insert(g.samples, at, e)
		g.samples = g.samples[:min(len(g.samples), v1alpha1.MaxSamples)]
	}
}

// unread tells that none of its findings could be read.
func (g *group) unread() bool { return g.state == v1alpha1.StateNotChecked }

// say keeps the first reason by name.
func (g *group) say(why string) {
	if g.why == "" || why < g.why {
		g.why = why
	}
}

// name tells that one of those whose names an earlier leader did not write has a name now.
func (g *group) name() bool {
	switch {
	case g.unnamed > 0:
		g.unnamed--
	case g.unnamedHidden > 0:
		g.unnamedHidden--
	default:
		return false
	}
	return true
}

// conclude decides what state the group is in.
func (g *group) conclude(u *unread, now, began model.Time) {
	if u.ran(g.code) {
		g.unnamed, g.unnamedHidden = 0, 0 // all that is there has been named by now
	}
	g.suppressed += g.unnamedHidden
	waited := now.Sub(began) >= patience || g.unnamedUnread
	if g.unnamedHidden > 0 && waited {
		g.uncheckedHidden += g.unnamedHidden
		g.why = cmp.Or(g.why, u.of(g.code, nil), "not read")
	}
	if g.unnamed > 0 {
		g.count += g.unnamed
		if waited {
			g.unchecked += g.unnamed
			g.why = cmp.Or(g.why, u.of(g.code, nil), "not read")
		}
	}
	was := g.state
	switch {
	case g.count > g.unchecked:
		g.state = v1alpha1.StateConfirmed
	case g.count > 0:
		g.state = v1alpha1.StateNotChecked
	case g.suppressed > 0:
		g.state, g.severity = v1alpha1.StateSuppressed, g.hidden
	default:
		g.state = v1alpha1.StateResolved
	}
	switch {
	case g.state != v1alpha1.StateResolved:
		g.resolved = 0
	case was != v1alpha1.StateResolved:
		g.resolved = now
	}
	if g.first.IsZero() {
		g.first = cmp.Or(g.earlier, now)
	}
	g.judge(now)
}

// A condition is one of an object's, with since when it is so.
type condition struct {
	is      bool
	reason  string
	message string
	since   model.Time
}

// judge computes the conditions, each with its own time.
func (g *group) judge(now model.Time) {
	if g.conditions == nil {
		g.conditions = map[string]condition{}
	}
	checked := condition{is: g.unchecked+g.uncheckedHidden == 0, reason: "Read"}
	if !checked.is {
		checked.reason, checked.message = "NotRead", Bounded(g.why, v1alpha1.MaxMessage)
	}
	for kind, c := range map[string]condition{
		"Repairable": repairable(g.code),
		"Checked":    checked,
		"Confirmed":  {is: g.state == v1alpha1.StateConfirmed || g.state == v1alpha1.StateNotChecked, reason: "Settled"},
		"Resolved":   {is: g.state == v1alpha1.StateResolved, reason: "Judged"},
		"Suppressed": {is: g.state == v1alpha1.StateSuppressed, reason: "Judged"},
	} {
		c.since = now
		if old, there := g.conditions[kind]; there && old.is == c.is && !old.since.IsZero() {
			c.since = old.since
		}
		g.conditions[kind] = c
	}
}

// repairable says what to do about findings of a code. Whether a single one may be repaired now, only a plan tells.
func repairable(c finding.Code) condition {
	if c == v1alpha1.Overflow {
		return condition{reason: "SeveralCodes", message: "kubectl plumbline plan tells for each finding"}
	}
	if c == finding.PL9004 { // here suppressions are objects
		return condition{reason: "ByHand", message: "renew or delete the Suppression: kubectl get suppressions"}
	}
	is, advise := planner.Repairs(c)
	if !is {
		return condition{reason: "ByHand", message: Bounded(advise, v1alpha1.MaxMessage)}
	}
	return condition{is: true, reason: "Plan", message: "kubectl plumbline plan --code=" + string(c) + " tells for each finding"}
}

// conditionsOf reads those of an earlier leader.
func conditionsOf(all []v1alpha1.Condition) map[string]condition {
	out := map[string]condition{}
	for _, c := range all {
		out[c.Type] = condition{is: c.Status == "True", reason: c.Reason, message: c.Message, since: model.At(c.LastTransitionTime.Time)}
	}
	return out
}
