package execute

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/repair/change"
)

// act adds what must be verified before an agent changes an object of its node: see
// change.Acting. The pods of the node are read live.
func (x *Executor) act(ctx context.Context, d *demand, finding string, e *change.Edited) error {
	a := e.Acts
	if d.refused = a.Refused; d.refused != "" {
		return nil
	}
	d.acted = a.NotInUse
	for _, ip := range a.Alone {
		with, err := x.Pods.PodsWith(ctx, ip)
		if err != nil {
			return fmt.Errorf("list pods with %s: %w", ip, err)
		}
		for _, o := range with {
			if p, err := change.ReadPod(o); err == nil && o.Ref != e.Object.Ref && !p.Finished() && !p.HostNetwork && len(change.Claims(&p, []netip.Addr{ip})) > 0 {
				d.refused = fmt.Sprintf("%s has %s too, and the plan does not keep it", o.Ref.Name, ip)
				return nil
			}
		}
	}
	if a.Running != nil {
		t := x.targets[finding]
		if t == nil || t.Proof.Running == nil {
			d.refused = "the plan names no running pod for it"
			return nil
		}
		l := *t.Proof.Running
		l.Peer, l.Away, l.MAC, l.At = a.Running.Peer, a.Running.Away, a.Running.MAC, a.Running.At
		d.given = append(d.given, &l)
	}
	if a.Gone == "" && !a.Abort {
		return nil
	}
	pods, err := x.podsOn(ctx, e.Object.Ref.OnNode())
	if err != nil {
		return err
	}
	if p := pods[a.Gone]; p != nil {
		d.refused = fmt.Sprintf("pod %s with UID %s is on the node", p.name, a.Gone)
	}
	if a.Abort {
		if risk := abortRisk(a, pods); risk.Level() > x.MaxRisk.Level() {
			d.refused = fmt.Sprintf("its risk is %s, above --max-risk=%s: %s", risk, x.MaxRisk, losers(a, pods))
		}
	}
	return nil
}

// abortRisk is Disruptive only if all pods that can use the file system are known, and each is
// gone or being deleted.
func abortRisk(a *change.Acting, pods map[string]*claimant) change.Risk {
	if !a.Known || slices.ContainsFunc(a.Users, func(uid string) bool { return pods[uid] != nil && !pods[uid].Deleted }) {
		return change.Destructive
	}
	return change.Disruptive
}

// losers says who loses the file system.
func losers(a *change.Acting, pods map[string]*claimant) string {
	for _, uid := range a.Users {
		if p := pods[uid]; p != nil && !p.Deleted {
			return "running pod " + p.name + " loses the file system"
		}
	}
	return "it is not known who uses the file system"
}

// podsOn reads the pods of a node, by UID. A static pod has two: its own, and that in its sandbox.
func (x *Executor) podsOn(ctx context.Context, node string) (map[string]*claimant, error) {
	all, err := x.Pods.PodsOn(ctx, node)
	if err != nil {
		return nil, fmt.Errorf("list the pods on %s: %w", node, err)
	}
	out := map[string]*claimant{}
	for _, o := range all {
		p, err := change.ReadPod(o)
		if err != nil {
			return nil, err
		}
		c := &claimant{o.Ref.Name, p}
		for _, uid := range []string{o.UID, p.Static} {
			if uid != "" {
				out[uid] = c
			}
		}
	}
	return out, nil
}
