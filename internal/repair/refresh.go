package repair

import (
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// Refresh holds a saved plan against a new look at the cluster: what is no longer found is
// not repaired, and who claims an address since the plan was made is asked as well. It
// gives what falls away.
func (p *Plan) Refresh(v *model.View, found func(key string) bool) []Refusal {
	var out []Refusal
	p.Targets = slices.DeleteFunc(p.Targets, func(t Target) bool {
		why := ""
		if !p.Rebuild && p.Undoes == "" && !found(t.Finding) {
			why = "it is not found any more"
		}
		if d := t.Proof.NotInUse; d != nil && why == "" {
			why = d.refresh(v)
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

// strip takes out of the steps what they do for findings that are no targets any more.
func (p *Plan) strip() {
	there := map[string]bool{}
	for i := range p.Targets {
		there[p.Targets[i].Finding] = true
	}
	gone := func(o Ordinal) bool { return !there[o.For] }
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool { return !slices.ContainsFunc(s.For, func(f string) bool { return there[f] }) })
	kept := p.Steps[:0]
	for _, s := range p.Steps {
		s.For = slices.DeleteFunc(slices.Clone(s.For), func(f string) bool { return !there[f] })
		ordinals := s.Ordinals != nil
		s.Ordinals = slices.DeleteFunc(slices.Clone(s.Ordinals), gone)
		if ordinals && len(s.Ordinals) == 0 {
			continue
		}
		if s.NewBlock != nil {
			made := *s.NewBlock
			made.Born = slices.DeleteFunc(slices.Clone(made.Born), func(o Ordinal) bool { return gone(o) && !o.To.tunnel() })
			s.NewBlock = &made
		}
		s.ID = len(kept) + 1
		kept = append(kept, s)
	}
	p.Steps = kept
}

// refresh adds the nodes of pods that claim an address now.
func (d *NotInUse) refresh(v *model.View) string {
	for _, ip := range d.IPs {
		for pod := range v.PodsWith(ip) {
			if pod.Networked() && slices.Contains(pod.Claims(), ip) {
				return pod.Namespace + "/" + pod.Name + " says that " + ip.String() + " is its own"
			}
			if pod.Node != "" && !slices.Contains(d.Nodes, pod.Node) {
				d.Nodes = append(d.Nodes, pod.Node)
			}
		}
	}
	return ""
}

// Unproven names the part of Calico on which no repair has been proven; empty if all is.
func Unproven(v *model.View) string { return (&builder{view: v}).unproven() }
