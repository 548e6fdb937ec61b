package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// Calico needs some seconds to follow what was written, and a busy node to answer: a finding that is still
// there is looked for again, and what could not be read is read again, for a while.
const (
	verifyWithin = time.Minute
	verifyEvery  = 5 * time.Second
)

// A Verification is what a check found after a plan was carried out.
type Verification struct {
	Still  []string          // findings of the plan that are still there
	Also   []finding.Finding // other findings about the same pods and addresses
	Broken []finding.Finding // those of them that are errors and were not there before: the pods do not work yet
	Waited time.Duration     // for Calico
	Unread error             // what could not be read again
}

// Verify checks the cluster again, notes the end in the journal, and gives the repaired findings that
// are still found, and others about the same pods. waiting is told for what it waits.
func (r *Run) Verify(ctx context.Context, res execute.Result, waiting func(Verification)) (v Verification) {
	r.end(repair.Done, "")
	defer r.copyJournal(context.WithoutCancel(ctx))
	if r.Plan.Undoes != "" {
		return v
	}
	began := r.x.Now()
	for look := 1; ; look++ {
		waited := r.x.Now().Sub(began) // before the check: that of a large cluster takes long itself
		if v = r.found(ctx, res); len(v.Still) == 0 && len(v.Broken) == 0 && v.Unread == nil || ctx.Err() != nil || look > 1 && waited > verifyWithin {
			v.Waited = waited
			return v
		}
		waiting(v)
		if r.x.Sleep(ctx, verifyEvery) != nil {
			v.Waited = waited
			return v
		}
	}
}

func (r *Run) found(ctx context.Context, res execute.Result) (v Verification) {
	now, err := r.Check(ctx, audit.Options{})
	if err != nil {
		v.Unread = err
		return v
	}
	there := foundIn(now)
	for f, was := range res.Findings {
		if was.Repaired() && there(f) {
			v.Still = append(v.Still, f)
		}
	}
	slices.Sort(v.Still)
	v.Also, v.Broken = r.others(now)
	for _, c := range now.Gaps {
		if c.Node == "" {
			v.Unread = fmt.Errorf("%s could not be read again: %s", c.Table, c.Reason)
			return v
		}
		if r.Plan.Concerns(c.Node) && !c.Table.Supplements() {
			v.Unread = fmt.Errorf("%s of node %s could not be read again: %s", c.Table, c.Node, c.Reason)
			return v
		}
	}
	return v
}

// others are findings that the plan does not repair, about its pods and addresses, and those of them
// that are errors and were not there before the first step.
func (r *Run) others(now *audit.Report) (also, broken []finding.Finding) {
	for _, f := range slices.Concat(now.Findings, now.Unconfirmed) {
		if !r.wants[f.Key()] && slices.ContainsFunc(f.About, func(o model.Ref) bool { return r.about[o] }) {
			also = append(also, f)
			if f.Severity == finding.Error && !r.before[f.Key()] {
				broken = append(broken, f)
			}
		}
	}
	return also, broken
}

// podsIn are the pods and addresses that findings of a plan are about. Of those that are gone when the
// plan is resumed, their subjects are left.
func podsIn(now *audit.Report, wants map[string]bool) map[model.Ref]bool {
	out := map[model.Ref]bool{}
	for name := range wants {
		k, _ := finding.ParseKey(name)
		out[model.Ref{Kind: model.KindPod, Name: k.Name}], out[model.Ref{Kind: model.KindAddress, Name: k.Name}] = true, true
	}
	for _, f := range slices.Concat(now.Findings, now.Unconfirmed, now.Folded, now.Suppressed) {
		if !wants[f.Key()] {
			continue
		}
		for _, o := range f.About {
			if o.Kind == model.KindPod || o.Kind == model.KindAddress {
				out[o] = true
			}
		}
	}
	return out
}

// targetsOf are the findings that a plan repairs.
func targetsOf(p *repair.Plan) map[string]bool {
	out := make(map[string]bool, len(p.Targets))
	for i := range p.Targets {
		out[p.Targets[i].Finding] = true
	}
	return out
}

// unseen reports whether a node of the plan was not read completely, or a code of it was not judged:
// then what is not found may be there.
func unseen(now *audit.Report, p *repair.Plan) bool {
	for _, c := range now.Gaps {
		if c.Node != "" && p.Concerns(c.Node) && !c.Table.Supplements() {
			return true
		}
	}
	return slices.ContainsFunc(p.Targets, func(t repair.Target) bool {
		k, _ := finding.ParseKey(t.Finding)
		_, judged := now.Judged[k.Code]
		return !judged
	})
}
