package objects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/finding"
)

const overflowName = "overflow"

// Objects are the board's groups as objects, at most MaxFindings: the worst first. What has no place is
// counted by one object of its own. A group that has an object keeps it before others that are as bad.
func (b *Board) Objects() []v1alpha1.Finding {
	names := make([]string, 0, len(b.groups))
	for name := range b.groups {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		g, h := b.groups[x], b.groups[y]
		return cmp.Or(cmp.Compare(rank(g), rank(h)), cmp.Compare(h.severity.Level(), g.severity.Level()), cmp.Compare(h.resolved, g.resolved),
			cmp.Compare(place(g), place(h)), cmp.Compare(h.count, g.count), strings.Compare(x, y))
	})
	var more []string
	if len(names) >= v1alpha1.MaxFindings {
		names, more = names[:v1alpha1.MaxFindings-1], names[v1alpha1.MaxFindings-1:]
	}
	out := make([]v1alpha1.Finding, 0, len(names)+1)
	for _, name := range names {
		g := b.groups[name]
		g.placed = true
		out = append(out, g.object(name, b.title(g.code)))
	}
	if o, ok := b.overflow(more); ok {
		out = append(out, o)
	}
	return out
}

func place(g *group) int {
	if g.placed {
		return 0
	}
	return 1
}

// rank orders states: what is there, what may be, what is hidden, what was.
func rank(g *group) int {
	return slices.Index([]string{v1alpha1.StateConfirmed, v1alpha1.StateNotChecked, v1alpha1.StateSuppressed, v1alpha1.StateResolved}, g.state)
}

// overflow counts the groups that have no object. Resolved ones are not missed. What an earlier leader
// counted so is not forgotten before this one can know better.
func (b *Board) overflow(names []string) (v1alpha1.Finding, bool) {
	sum := &group{code: v1alpha1.Overflow, in: v1alpha1.FindingGroup{Kind: "Cluster"}, state: v1alpha1.StateConfirmed}
	groups := 0
	for _, name := range names {
		g := b.groups[name]
		g.placed = false
		if g.state == v1alpha1.StateResolved {
			continue
		}
		groups++
		sum.count += g.count
		sum.suppressed += g.suppressed
		sum.unchecked += g.unchecked
		sum.last = max(sum.last, g.last)
		if sum.why == "" || g.why != "" && g.why < sum.why {
			sum.why = g.why
		}
		if sum.first.IsZero() || g.first < sum.first {
			sum.first = g.first
		}
		if g.severity.Level() > sum.severity.Level() {
			sum.severity = g.severity
		}
	}
	if missed := b.more - sum.count; missed > 0 {
		sum.count += missed
		sum.unchecked += missed
		sum.why = cmp.Or(sum.why, "counted by an earlier leader; it is checked again")
		sum.first = cmp.Or(sum.first, b.began)
	}
	if sum.count > 0 && sum.count == sum.unchecked {
		sum.state = v1alpha1.StateNotChecked
	}
	sum.judge(b.began)
	what := fmt.Sprintf("%d more groups of findings than there may be objects", groups)
	return sum.object(overflowName, what), groups > 0 || sum.count > 0
}

func (g *group) object(name, title string) v1alpha1.Finding {
	o := v1alpha1.NewFinding(name, v1alpha1.FindingSpec{Code: string(g.code), In: g.in})
	o.Status = v1alpha1.FindingStatus{
		State: g.state, Severity: string(g.severity), What: Bounded(title, v1alpha1.MaxMessage), Count: g.count, Suppressed: g.suppressed, NotChecked: g.unchecked,
		FirstSeen: timeOf(g.first), LastSeen: timeOf(g.last), ResolvedAt: timeOf(g.resolved), Show: g.show(),
	}
	size := 0
	for _, e := range g.samples {
		if size += encoded(e.sample.Subject) + encoded(e.sample.Message) + encoded(e.sample.Node); size > maxSamples {
			break
		}
		o.Status.Samples = append(o.Status.Samples, e.sample)
	}
	for _, kind := range []string{"Checked", "Confirmed", "Resolved", "Suppressed", "Repairable"} {
		c := g.conditions[kind]
		is := v1alpha1.NewCondition(kind, c.is, timeOf(c.since))
		is.Reason, is.Message = c.reason, c.message
		o.Status.Conditions = append(o.Status.Conditions, is)
	}
	return o
}

// maxSamples is the size of all samples of an object: the rest of it is small.
const maxSamples = 20 << 10

// encoded is the size of a text in JSON, at most.
func encoded(s string) int {
	return len(s) + 5*strings.Count(s, "<") + 5*strings.Count(s, ">") + 5*strings.Count(s, "&") + strings.Count(s, `"`) + strings.Count(s, `\`)
}

// show is the command that lists all findings of the group.
func (g *group) show() string {
	const check = "kubectl plumbline check"
	if g.code == v1alpha1.Overflow {
		return check
	}
	if g.code == finding.PL9004 {
		return "kubectl get suppressions"
	}
	s := check + " --code=" + string(g.code)
	if g.in.Kind == "Namespace" && objectName.MatchString(g.in.Name) {
		s += " -n " + g.in.Name
	}
	return s
}
