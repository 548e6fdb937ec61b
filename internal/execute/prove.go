package execute

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// patience is how often a verification is repeated while only a CNI call prevents it. If a
// node does not answer it is repeated twice.
const patience = 6

// slowCalls is how often more than that verifications are repeated in a whole run: on an overloaded node one CNI call takes most
// of a minute.
const slowCalls = 60

// prove verifies the proofs of the findings live. It returns those whose proof does not hold:
// Refused: contradicted; Stale: a CNI call is in progress; Unknown: a node or the API server
// did not answer. Order: it must be called after the object of the step was read. Only then
// does it prove something about that version: what a CNI call wrote before the read is in the
// object, and a call that is still in progress is visible on its node. Beside the proofs of the
// plan it verifies what derive demands for the write e.
func (x *Executor) prove(ctx context.Context, findings []string, e *change.Edited) (map[string]Verdict, error) {
	for try := 0; ; try++ {
		failed, err := x.proveOnce(ctx, findings, e)
		passing := false
		for _, v := range failed {
			passing = passing || v.Outcome == repair.Stale || v.Outcome == repair.Unknown && try < 2
		}
		if err != nil || !passing || try >= patience && x.waited == slowCalls {
			return failed, err
		}
		if try >= patience {
			x.waited++
		}
		clear(x.rolls)
		if err := x.Sleep(ctx, time.Second); err != nil {
			return nil, fmt.Errorf("%w: %w", errHalted, err)
		}
	}
}

// proveOnce verifies once: the pods and other objects in Kubernetes per finding, then all
// nodes with one request each for all findings together, then judges per finding.
func (x *Executor) proveOnce(ctx context.Context, findings []string, e *change.Edited) (map[string]Verdict, error) {
	failed := map[string]Verdict{}
	proofs, err := x.proofs(ctx, findings, e, failed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHalted, err)
	}
	asked := questions{}
	for _, f := range findings {
		for _, p := range proofs[f] {
			if v := x.outside(ctx, p, asked); v.Outcome != "" {
				failed[f] = v
				break
			}
		}
	}
	said := x.ask(ctx, asked)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", errHalted, err)
	}
	for _, f := range findings {
		if _, bad := failed[f]; bad {
			continue
		}
		for _, p := range proofs[f] {
			if v := x.judge(ctx, p, said); v.Outcome != "" {
				failed[f] = v
				break
			}
		}
	}
	return failed, nil
}

// proofs gives what must be verified for each finding: what its target in the plan says, and what
// the write itself demands. A finding that is refused without asking any node is added to failed.
// An error means that the context has ended.
func (x *Executor) proofs(ctx context.Context, findings []string, e *change.Edited, failed map[string]Verdict) (map[string][]*change.Proof, error) {
	demands, err := x.derive(ctx, e)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := map[string][]*change.Proof{}
	for _, f := range findings {
		t, d := x.targets[f], demands[f]
		switch {
		case t == nil:
			failed[f] = Verdict{repair.Refused, "the plan has no target for it"}
		case err != nil:
			failed[f] = Verdict{repair.Unknown, err.Error()}
		case d != nil && d.refused != "":
			failed[f] = Verdict{repair.Refused, d.refused}
		default:
			out[f] = append(out[f], &t.Proof)
			if d != nil {
				out[f] = append(out[f], d.proofs()...)
			}
		}
	}
	return out, nil
}

// outside verifies the part of a proof that no node can, and adds what the nodes must verify.
func (x *Executor) outside(ctx context.Context, p *change.Proof, q questions) Verdict {
	why, err := x.pods(ctx, p)
	switch {
	case err != nil:
		return Verdict{repair.Unknown, err.Error()}
	case why != "":
		return Verdict{repair.Refused, why}
	}
	if err := x.question(ctx, q, p); err != nil {
		return Verdict{repair.Unknown, err.Error()}
	}
	return Verdict{}
}

// hold verifies one proof once. The zero Verdict means that it holds; else as in prove.
func (x *Executor) hold(ctx context.Context, p *change.Proof) (Verdict, error) {
	q := questions{}
	if v := x.outside(ctx, p, q); v.Outcome != "" {
		return v, ctx.Err()
	}
	return x.judge(ctx, p, x.ask(ctx, q)), nil
}

// pods verifies the part of a proof that concerns Kubernetes: pods, nodes, services, VMs. It gives why it does not hold.
func (x *Executor) pods(ctx context.Context, p *change.Proof) (string, error) {
	if l := p.Running; l != nil {
		o, err := x.Kube.Get(ctx, podRef(l.Namespace, l.Pod))
		if err != nil {
			return "", err
		}
		if why := l.AgainstPod(o); why != "" {
			return why, nil
		}
	}
	if p.NotInUse == nil {
		return "", nil
	}
	for i := range p.NotInUse.Gone {
		g := &p.NotInUse.Gone[i]
		o, err := x.Kube.Get(ctx, podRef(g.Namespace, g.Name))
		if err != nil {
			return "", err
		}
		if why := g.Against(o); why != "" {
			return why, nil
		}
		if why := p.NotInUse.Unasked(o); why != "" {
			return why, nil
		}
	}
	for _, r := range p.NotInUse.Absent {
		o, err := x.Kube.Get(ctx, r)
		if err != nil {
			return "", err
		}
		if o.There() {
			return r.String() + " exists", nil
		}
	}
	return "", nil
}

func podRef(namespace, name string) model.Ref {
	return model.Ref{Kind: model.KindPod, Name: namespace + "/" + name}
}

// questions are the addresses and containers that each node must verify, for all findings together.
type questions map[string]*question

type question struct {
	ips        map[netip.Addr]bool
	containers map[string]bool
}

func (q questions) add(node string, ips []netip.Addr, containers ...string) {
	if q[node] == nil {
		q[node] = &question{map[netip.Addr]bool{}, map[string]bool{}}
	}
	for _, ip := range ips {
		q[node].ips[ip] = true
	}
	for _, c := range containers {
		q[node].containers[c] = true
	}
}

// question adds what the nodes must verify for a proof, unless asksAllNodes.
func (x *Executor) question(ctx context.Context, q questions, p *change.Proof) error {
	if l := p.Running; l != nil {
		q.add(l.Node, l.IPs, l.Container)
	}
	if p.NotInUse == nil || asksAllNodes(p.NotInUse) {
		return nil
	}
	nodes, err := x.nodesOf(ctx, p.NotInUse)
	for _, n := range nodes {
		q.add(n, p.NotInUse.IPs, p.NotInUse.Containers...)
	}
	return err
}

// nodesOf gives the nodes whose agents must verify. With All: the nodes that exist now, and
// those of the plan that are gone since, except those that the user declared gone (Absent).
func (x *Executor) nodesOf(ctx context.Context, d *change.NotInUse) ([]string, error) {
	if !d.All {
		return d.Nodes, nil
	}
	all, err := x.nodeNames(ctx)
	if err != nil {
		return nil, err
	}
	// A node whose Node object was deleted since may still run pods: its agent must verify too.
	var gone []string
	for _, n := range slices.Concat(d.Nodes, x.plan.Nodes) {
		if !x.exists[n] && !slices.Contains(gone, n) && !slices.Contains(d.Absent, model.Ref{Kind: model.KindNode, Name: n}) {
			gone = append(gone, n)
		}
	}
	return slices.Concat(all, gone), nil
}

// An answer is the verification by a node, or why there is none.
type answer struct {
	w   model.Verification
	err error
}

// ask requests the verifications, one request per node.
func (x *Executor) ask(ctx context.Context, q questions) map[string]answer {
	nodes := slices.Sorted(maps.Keys(q))
	answers := x.askEach(ctx, nodes, func(ctx context.Context, node string) answer {
		ips := slices.SortedFunc(maps.Keys(q[node].ips), netip.Addr.Compare)
		w, err := x.Nodes.Ask(ctx, node, ips, slices.Sorted(maps.Keys(q[node].containers)))
		if err == nil && w.Node != node {
			err = fmt.Errorf("the agent of %s answered instead", w.Node)
		}
		return answer{w, err}
	})
	said := map[string]answer{}
	for i, node := range nodes {
		if said[node] = answers[i]; answers[i].err == nil {
			x.learn(&answers[i].w)
		}
	}
	return said
}

// judge compares a proof with the verifications. The zero Verdict means that it holds.
func (x *Executor) judge(ctx context.Context, p *change.Proof, said map[string]answer) Verdict {
	if l := p.Running; l != nil {
		if v := one(l.Node, said[l.Node], l.Against); v.Outcome != "" {
			return v
		}
	}
	if p.NotInUse == nil {
		return Verdict{}
	}
	nodes, err := x.nodesOf(ctx, p.NotInUse)
	if err != nil {
		return Verdict{repair.Unknown, err.Error()}
	}
	of := func(n string) answer { return said[n] }
	if asksAllNodes(p.NotInUse) {
		nodes, of = x.allNodes(ctx, nodes, p.NotInUse.Containers)
	}
	for _, n := range nodes {
		a := of(n)
		if a.err != nil && x.excused[n] {
			continue
		}
		if v := one(n, a, p.NotInUse.Against); v.Outcome != "" {
			return v
		}
	}
	return Verdict{}
}

// one compares a proof with the verification by one node. No or an incomplete answer is
// Unknown, never success.
func one(node string, a answer, against func(*model.Verification) (string, bool)) Verdict {
	if a.err != nil {
		return Verdict{repair.Unknown, "the agent on " + node + " does not answer: " + a.err.Error()}
	}
	if a.w.Node != node {
		return Verdict{repair.Unknown, "the agent on " + node + " was not asked to verify"}
	}
	if !a.w.Complete {
		return Verdict{repair.Unknown, "the agent on " + node + " could not read everything: " + strings.Join(a.w.Missing, "; ")}
	}
	switch why, passing := against(&a.w); {
	case why != "" && passing:
		return Verdict{repair.Stale, why}
	case why != "":
		return Verdict{repair.Refused, why}
	}
	return Verdict{}
}
