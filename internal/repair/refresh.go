package repair

import (
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// NotPresent is why a finding of a plan is skipped that is there no more.
const NotPresent = "the finding is not present in the current check"

// NotLooked is why it is skipped if not everything was read that would show it.
const NotLooked = "the finding is not in the current check, which did not read everything: it may still be there"

// Refresh compares a saved plan with a new check. It removes targets whose finding is gone
// or whose address a running pod now has, adds the nodes of pods that now have an address
// to the nodes that must verify, and returns the removed targets.
func (p *Plan) Refresh(v *model.View, found func(key string) bool) []Refusal {
	var out []Refusal
	p.Targets = slices.DeleteFunc(p.Targets, func(t Target) bool {
		why := ""
		if !p.Rebuild && p.Undoes == "" && !found(t.Finding) {
			why = NotPresent
		}
		if d := t.Proof.NotInUse; d != nil && why == "" {
			why = refreshNotInUse(d, v)
		}
		if why != "" {
			out = append(out, Refusal{Finding: t.Finding, Why: why})
		}
		return why != ""
	})
	if len(out) > 0 {
		p.strip()
	}
	return out
}

// strip removes from the steps everything for findings that are not targets any more, and renumbers them.
func (p *Plan) strip() {
	there := map[string]bool{}
	for i := range p.Targets {
		there[p.Targets[i].Finding] = true
	}
	gone := func(finding string) bool { return !there[finding] }
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool { return !slices.ContainsFunc(s.For, func(f string) bool { return there[f] }) })
	kept := p.Steps[:0]
	for _, s := range p.Steps {
		s.For = slices.DeleteFunc(slices.Clone(s.For), gone)
		if c, ok := s.Change.(change.Divisible); ok {
			if s.Change = c.Without(gone); s.Change == nil {
				continue
			}
		}
		s.ID = len(kept) + 1
		kept = append(kept, s)
	}
	p.Steps = kept
}

// refreshNotInUse adds the nodes of pods that now have one of the addresses. It gives why the proof cannot hold any more.
func refreshNotInUse(d *change.NotInUse, v *model.View) string {
	for _, ip := range d.IPs {
		for pod := range v.PodsWith(ip) {
			if pod.Networked() && slices.Contains(pod.Claims(), ip) {
				return pod.Namespace + "/" + pod.Name + " has " + ip.String() + " in its status or annotation"
			}
			if pod.Node != "" && !slices.Contains(d.Nodes, pod.Node) {
				d.Nodes = append(d.Nodes, pod.Node)
			}
		}
	}
	return ""
}
