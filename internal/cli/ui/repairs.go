package ui

import (
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/web"
)

// repairs gives journals and policies as pages show them.
func repairs(all cluster.Repairs) web.Repairs {
	out := web.Repairs{Unread: all.Unread}
	for _, j := range all.Journals {
		out.Plans = append(out.Plans, web.Plan{ID: j.Plan, State: string(j.State), Why: j.Why, Risk: string(j.Risk), Made: j.Made.UTC(), Steps: j.Steps, Tried: j.Tried, Findings: j.Targets[:min(len(j.Targets), 3)]})
	}
	for i := range all.Policies {
		p := &all.Policies[i]
		one := web.Policy{Name: p.Name, Mode: p.Spec.Mode, Codes: p.Spec.Codes, State: p.Status.State, Message: p.Status.Message, Open: p.Status.Open, Right: p.Status.Right, Wrong: p.Status.Wrong}
		for _, d := range p.Status.Recent {
			one.Recent = append(one.Recent, web.Decision{Finding: d.Finding, Outcome: d.Outcome, Why: d.Why, Scored: d.Scored.UTC()})
		}
		out.Policies = append(out.Policies, one)
	}
	return out
}
