package web

import (
	"context"
	"time"
)

// Repairs is what was repaired, and what a policy would have.
type Repairs struct {
	Plans    []Plan
	Policies []Policy
	Unread   []string
}

// A Plan is one that was applied from this machine.
type Plan struct {
	ID, State, Why, Risk string
	Made                 time.Time
	Steps, Tried         int
	Findings             []string
}

// A Policy is what the controller would have repaired by itself, and whether that would have been right.
type Policy struct {
	Name, Mode, State, Message string
	Codes                      []string
	Open, Right, Wrong         int64
	Recent                     []Decision
}

// A Decision is one that was scored.
type Decision struct {
	Finding, Outcome, Why string
	Scored                time.Time
}

// repairs shows plans and policies, to who may see all findings: they name any of them.
func (l *look) repairs() (string, any, error) {
	if l.site.Repairs == nil || !l.unlimited {
		return "", nil, missing("Repairs are not shown here: of a bundle none is known, and they name pods of all namespaces.")
	}
	ctx, cancel := context.WithTimeout(l.r.Context(), askedWithin)
	defer cancel()
	return "repairs", map[string]any{
		"Repairs":  l.site.Repairs(ctx, l.View.Snapshot().Meta.GUID),
		"Commands": []string{l.Command("plan", "--save", "plan.yaml"), l.Command("apply", "-f", "plan.yaml"), l.Command("history"), l.Command("undo", "PLAN")},
	}, nil
}
