package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Pattern is that most findings started around the same time, and what else happened then.
// Invariants: Findings <= Of; From <= To.
type Pattern struct {
	Findings  int        `json:"findings"` // number of findings that started then
	Of        int        `json:"of"`       // number of findings whose start is known
	From      model.Time `json:"from"`
	To        model.Time `json:"to"`
	Kubelets  []string   `json:"kubelets,omitempty"` // nodes whose kubelet started then
	Boots     []string   `json:"boots,omitempty"`    // nodes that booted then
	Concerned int        `json:"concerned"`          // number of nodes of these findings
}

const (
	atOnce  = 30 * time.Minute // findings that started within this count as one time
	atLeast = 5                // findings that make a pattern
	mostOf  = 0.8              // share of the findings with a known start
)

// Pattern is the pattern of the confirmed findings.
func (r *Report) Pattern() *Pattern { return patternOf(r.Findings, r.View, r.Taken) }

// patternOf finds the time at which most findings started; nil if there is none. Only
// findings with a known start count, not those of which only Plumbline's first observation
// is known.
func patternOf(fs []finding.Finding, v *model.View, taken model.Time) *Pattern {
	var known []*finding.Finding
	for i := range fs {
		if onset(&fs[i]) != 0 {
			known = append(known, &fs[i])
		}
	}
	if len(known) < atLeast {
		return nil
	}
	slices.SortStableFunc(known, func(a, b *finding.Finding) int { return cmp.Compare(onset(a), onset(b)) })
	first, last := densest(known)
	n := last - first + 1
	if n < atLeast || float64(n) < mostOf*float64(len(known)) {
		return nil
	}
	p := &Pattern{Findings: n, Of: len(known), From: onset(known[first]), To: onset(known[last])}
	nodes := map[string]bool{}
	for _, f := range known[first : last+1] {
		if f.Node != "" {
			nodes[f.Node] = true
		}
	}
	p.Concerned = len(nodes)
	for name := range nodes {
		p.restarts(name, v.MachineOf(name), taken)
	}
	slices.Sort(p.Kubelets)
	slices.Sort(p.Boots)
	return p
}

// onset is when a finding is known to have started: from logs, else from the times of its
// Kubernetes and Calico objects; zero if unknown. Node state does not count: its times begin
// at the start of the agent.
func onset(f *finding.Finding) model.Time {
	if len(f.Causes) > 0 {
		return f.Causes[0].At
	}
	nodeState := func(e finding.Evidence) bool { return slices.Contains(seenByAgents, e.Ref.Kind) }
	if slices.ContainsFunc(f.Evidence, nodeState) {
		return 0
	}
	return f.Proven()
}

var seenByAgents = []model.Kind{
	model.KindLink, model.KindPath, model.KindNeighbour, model.KindAttachment, model.KindSysctl, model.KindSandbox, model.KindContainer,
	model.KindCNIConfig, model.KindProcess, model.KindMount, model.KindRuntime, model.KindMachine,
}

// densest returns the range of findings, sorted by onset, that is the longest within atOnce.
func densest(fs []*finding.Finding) (first, last int) {
	for i, j := 0, 0; j < len(fs); j++ {
		for onset(fs[j]).Sub(onset(fs[i])) > atOnce {
			i++
		}
		if j-i > last-first {
			first, last = i, j
		}
	}
	return first, last
}

// restarts records the node if it booted, or its kubelet started, within the pattern's time
// or up to atOnce before.
func (p *Pattern) restarts(name string, m *model.Machine, taken model.Time) {
	if m == nil || m.Uptime == 0 {
		return
	}
	boot := taken.Add(-time.Duration(m.Uptime) * time.Second)
	within := func(t model.Time) bool { return t >= p.From.Add(-atOnce) && t <= p.To }
	switch kubelet := boot.Add(time.Duration(m.Kubelet) * time.Second); {
	case within(boot):
		p.Boots = append(p.Boots, name)
	case m.Kubelet != 0 && within(kubelet):
		p.Kubelets = append(p.Kubelets, name)
	}
}

// String is the pattern as one line, in UTC.
func (p *Pattern) String() string {
	const layout = "2006-01-02 15:04"
	until := "-" + p.To.Time().Format("15:04")
	if p.To.Sub(p.From) < time.Minute {
		until = ""
	} else if p.From.Time().YearDay() != p.To.Time().YearDay() {
		until = " - " + p.To.Time().Format(layout)
	}
	s := fmt.Sprintf("%d%% of these findings started around %s%s UTC", p.Findings*100/p.Of, p.From.Time().Format(layout), until)
	var also []string
	for _, r := range []struct {
		what  string
		nodes []string
	}{{"booted", p.Boots}, {"restarted their kubelet", p.Kubelets}} {
		if n := len(r.nodes); n > 0 {
			also = append(also, fmt.Sprintf("%d of %d nodes %s", n, p.Concerned, r.what))
		}
	}
	if len(also) == 0 {
		return s
	}
	return s + "; " + strings.Join(also, ", ") + " at that time"
}
