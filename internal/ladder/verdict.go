package ladder

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/plain"
)

// Verdict says in one line how the ladder stands; it never says more than its rungs and findings.
func (l *Ladder) Verdict() string {
	if l.Note != "" {
		return l.Note
	}
	n, findings := map[Mark]int{}, 0
	for i := range l.Rungs {
		n[l.Rungs[i].State()]++
		for _, f := range l.Rungs[i].Findings {
			if serious(f) {
				findings++
			}
		}
	}
	var out []string
	if findings > 0 {
		out = append(out, plain.Count(findings, "finding"))
	}
	if l.Suppressed > 0 {
		out = append(out, plain.Count(l.Suppressed, "suppressed finding"))
	}
	if l.Hidden > 0 {
		out = append(out, plain.Count(l.Hidden, "finding")+" that you may not see")
	}
	for _, f := range l.Node {
		if serious(f) {
			out = append(out, "its node has findings")
			break
		}
	}
	if bad := n[Missing] + n[Differs]; bad > 0 {
		out = append(out, plain.Count(bad, "part")+" missing or different")
	}
	if n[Odd] > 0 {
		out = append(out, plain.Count(n[Odd], "part")+" missing or different, which no code calls a fault")
	}
	switch {
	case !l.Pod.Deleted.IsZero():
		out = append(out, "being deleted")
	case len(l.Pod.IPs) == 0:
		out = append(out, "has no address yet")
	case len(out) == 0 && l.whole():
		return "consistent in all three sources"
	case len(out) == 0:
		out = append(out, "no difference in what was checked")
	}
	if n[Unread] > 0 {
		out = append(out, plain.Count(n[Unread], "part")+" not checked")
	}
	return strings.Join(out, "; ")
}

// whole tells that every part that a working pod has is there and agrees.
func (l *Ladder) whole() bool {
	for i := range l.Rungs {
		r := &l.Rungs[i]
		need := slices.Contains([]string{partSandbox, partInside, partVeth, partRoute}, r.kind)
		if s := r.State(); s != Agrees && (need || s != Nothing && s != "") || need && r.Cells[node].Mark != Agrees {
			return false
		}
	}
	return true
}
