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
)

// patience is how often a proof is asked for again while only a CNI call stands in its way;
// of somebody who does not answer, twice.
const patience = 6

// prove asks, live, whether what the findings need still holds. The answer names those for
// which it does not, and why; Unknown means that somebody did not answer.
func (x *Executor) prove(ctx context.Context, findings []string) (map[string]Verdict, error) {
	for try := 0; ; try++ {
		failed, err := x.proveOnce(ctx, findings)
		passing := false
		for _, v := range failed {
			passing = passing || v.Outcome == repair.Stale || v.Outcome == repair.Unknown && try < 2
		}
		if err != nil || !passing || try == patience {
			return failed, err
		}
		clear(x.rolls)
		if err := x.Sleep(ctx, time.Second); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrHalted, err)
		}
	}
}

func (x *Executor) proveOnce(ctx context.Context, findings []string) (map[string]Verdict, error) {
	failed := map[string]Verdict{}
	asked := questions{}
	for _, f := range findings {
		t := x.targets[f]
		if t == nil {
			failed[f] = Verdict{repair.Refused, "the plan does not say what it needs"}
			continue
		}
		why, err := x.pods(ctx, &t.Proof)
		if err != nil {
			failed[f] = Verdict{repair.Unknown, err.Error()}
			continue
		}
		if why != "" {
			failed[f] = Verdict{repair.Refused, why}
			continue
		}
		if err := x.question(ctx, asked, &t.Proof); err != nil {
			failed[f] = Verdict{repair.Unknown, err.Error()}
		}
	}
	said := x.ask(ctx, asked)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHalted, err)
	}
	for _, f := range findings {
		if _, bad := failed[f]; bad {
			continue
		}
		if v := x.judge(ctx, &x.targets[f].Proof, said); v.Outcome != "" {
			failed[f] = v
		}
	}
	return failed, nil
}

// hold asks whether a proof holds now. No outcome means that it does; Stale that a CNI call
// is in the way.
func (x *Executor) hold(ctx context.Context, p *repair.Proof) (Verdict, error) {
	why, err := x.pods(ctx, p)
	if err != nil {
		return Verdict{repair.Unknown, err.Error()}, ctx.Err()
	}
	if why != "" {
		return Verdict{repair.Refused, why}, nil
	}
	q := questions{}
	if err := x.question(ctx, q, p); err != nil {
		return Verdict{repair.Unknown, err.Error()}, ctx.Err()
	}
	return x.judge(ctx, p, x.ask(ctx, q)), nil
}

// pods looks at the pods, and what else of Kubernetes a proof speaks of.
func (x *Executor) pods(ctx context.Context, p *repair.Proof) (string, error) {
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
			return r.String() + " is there", nil
		}
	}
	return "", nil
}

func podRef(namespace, name string) model.Ref {
	return model.Ref{Kind: model.KindPod, Name: namespace + "/" + name}
}

// questions are what each node is to be asked, together.
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

func (x *Executor) question(ctx context.Context, q questions, p *repair.Proof) error {
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

func (x *Executor) nodesOf(ctx context.Context, d *repair.NotInUse) ([]string, error) {
	if !d.All {
		return d.Nodes, nil
	}
	all, err := x.Nodes.Names(ctx)
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("list nodes: there are none")
	}
	// One whose object has gone meanwhile is asked too: it may be cut off, not dead.
	for _, n := range slices.Concat(d.Nodes, x.plan.Nodes) {
		if !slices.Contains(all, n) && !slices.Contains(d.Absent, model.Ref{Kind: model.KindNode, Name: n}) {
			all = append(all, n)
		}
	}
	return all, nil
}

// An answer is a witness, or why there is none.
type answer struct {
	w   model.Verification
	err error
}

func (x *Executor) ask(ctx context.Context, q questions) map[string]answer {
	said := map[string]answer{}
	for _, node := range slices.Sorted(maps.Keys(q)) {
		ips := slices.SortedFunc(maps.Keys(q[node].ips), netip.Addr.Compare)
		w, err := x.Nodes.Ask(ctx, node, ips, slices.Sorted(maps.Keys(q[node].containers)))
		if err == nil && w.Node != node {
			err = fmt.Errorf("%s answers in its place", w.Node)
		}
		said[node] = answer{w, err}
	}
	return said
}

// judge holds a proof against what the nodes said.
func (x *Executor) judge(ctx context.Context, p *repair.Proof, said map[string]answer) Verdict {
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
	if asksAllNodes(p.NotInUse) {
		said = x.allNodes(ctx, nodes)
	}
	for _, n := range nodes {
		if v := one(n, said[n], p.NotInUse.Against); v.Outcome != "" {
			return v
		}
	}
	return Verdict{}
}

func one(node string, a answer, against func(*model.Verification) (string, bool)) Verdict {
	if a.err != nil {
		return Verdict{repair.Unknown, node + " does not answer: " + a.err.Error()}
	}
	if a.w.Node != node {
		return Verdict{repair.Unknown, node + " was not asked"}
	}
	if !a.w.Complete {
		return Verdict{repair.Unknown, node + " could not see all of itself: " + strings.Join(a.w.Missing, "; ")}
	}
	switch why, passing := against(&a.w); {
	case why != "" && passing:
		return Verdict{repair.Stale, why}
	case why != "":
		return Verdict{repair.Refused, why}
	}
	return Verdict{}
}

// A roll is what a node named when it was asked for everything.
type nodeAnswers struct {
	answer
	at time.Time
}

// allNodesFor is how long a roll call is good. It is asked after the plan had seen the handle,
// and the handle is only removed at the revision that was seen then. A container gets its
// handle once, by writing it: what was in no list then, and has not been written since, is
// dead.
const allNodesFor = time.Minute

// asksAllNodes tells that a proof is about containers alone, which nodes can be asked about all
// at once: there may be tens of thousands.
func asksAllNodes(d *repair.NotInUse) bool { return d.All && len(d.IPs) == 0 }

func (x *Executor) allNodes(ctx context.Context, nodes []string) map[string]answer {
	said := map[string]answer{}
	for _, n := range nodes {
		r, ok := x.rolls[n]
		if !ok || r.err != nil || x.Now().Sub(r.at) > allNodesFor {
			r.at = x.Now()
			r.w, r.err = x.Nodes.Ask(ctx, n, nil, nil)
			if r.err == nil && !r.w.All {
				r.err = fmt.Errorf("it does not name all that it has")
			}
			x.rolls[n] = r
		}
		said[n] = r.answer
	}
	return said
}
