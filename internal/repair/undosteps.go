package repair

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// ordinals takes back what was done in a block, finding by finding.
func (u *undoer) ordinals(s *Step, e Entry) {
	var was, now []OrdinalWas
	if json.Unmarshal(e.Was, &was) != nil || json.Unmarshal(e.Now, &now) != nil || len(was) != len(now) {
		for _, f := range e.For {
			u.refuse(f, "the journal does not say what was in the block")
		}
		return
	}
	cidr, err := netip.ParsePrefix(s.On.Name)
	if err != nil {
		return
	}
	back := Step{Do: "undo " + s.Do, On: s.On}
	for i := range was {
		if !u.wants(was[i].For) {
			continue
		}
		before, ok1 := owner(was[i])
		after, ok2 := owner(now[i])
		if !ok1 || !ok2 {
			u.refuse(was[i].For, "the journal does not say whose "+was[i].IP.String()+" was")
			continue
		}
		if o, ok := u.ordinal(cidr, was[i], now[i], before, after); ok {
			back.Ordinals = append(back.Ordinals, o)
			back.For = appendNew(back.For, o.For)
		}
	}
	if len(back.Ordinals) > 0 {
		u.step(back)
	}
}

// ordinal takes one address back: what was freed is held again if it is still free, what
// was recorded is released by the rules of a release.
func (u *undoer) ordinal(cidr netip.Prefix, was, now OrdinalWas, before, after *object.Attribute) (Ordinal, bool) {
	o := Ordinal{For: was.For, IP: was.IP}
	if after != nil {
		o.From = &Held{Attribute: after.Row(), Sequence: now.Sequence}
		u.recount(was.For, after.Handle.V, []netip.Prefix{cidr}, nil)
	}
	switch {
	case before == nil && after != nil:
		dead := &NotInUse{IPs: []netip.Addr{was.IP}}
		if id := model.ContainerOf(after.Handle.V); id != "" {
			dead.Containers = []string{id}
		}
		u.target(was.For, Proof{NotInUse: dead})
		return o, true
	case before != nil && before.Handle.V == "" && (after == nil || !strings.HasPrefix(after.Handle.V, HoldPrefix)):
		u.refuse(was.For, was.IP.String()+" was held by no handle: nobody could release it again")
		return o, false
	case after != nil && !strings.HasPrefix(after.Handle.V, HoldPrefix):
		u.refuse(was.For, was.IP.String()+" is recorded for the one that uses it: that is not taken from it")
		return o, false
	}
	o.To = &Owner{Handle: before.Handle.V, Secondary: before.Secondary.V}
	u.target(was.For, u.unused(was, before))
	if h := before.Handle.V; h != "" { // under our hold it was not counted either
		u.step(Step{Do: "raise", On: model.Ref{Kind: model.KindHandle, Name: h}, For: []string{was.For}, Change: Change{Count: &Count{Handle: h, Raise: []Raise{{Block: cidr, IPs: []netip.Addr{was.IP}}}}}})
	}
	u.recount(was.For, before.Handle.V, []netip.Prefix{cidr}, nil)
	return o, true
}

// unused is the proof that nobody uses an address but the one who gets it back: another may
// have been given it, and have lost its record since. The nodes that spoke for the release
// speak for this.
func (u *undoer) unused(was OrdinalWas, before *object.Attribute) Proof {
	t := u.plan.Target(was.For)
	if t == nil || t.Proof.NotInUse == nil || t.Proof.NotInUse.Calm {
		return Proof{}
	}
	d := &NotInUse{IPs: []netip.Addr{was.IP}}
	if !t.Proof.NotInUse.All {
		d.Nodes = t.Proof.NotInUse.Nodes
	}
	if id := model.ContainerOf(before.Handle.V); id != "" {
		d.Except = []string{id}
	}
	return Proof{NotInUse: d}
}

func (u *undoer) affinity(s *Step, e Entry, f string) {
	var was string
	_ = json.Unmarshal(e.Was, &was) // nothing means that it was not there
	a := *s.Affinity
	a.UID = ""
	switch {
	case a.Want == AffinityGone:
		a.Want, a.From, a.Label = AffinityConfirmed, "", object.AffinityLabels(a.Node, a.CIDR)
	case a.Want == AffinityLabelled:
		u.refuse(f, "labels by which IPAM finds an affinity are not taken off again")
		return
	case was == "":
		a.Want, a.From = AffinityGone, a.Want
	default:
		u.refuse(f, "an affinity that was finished is not made unfinished again")
		return
	}
	u.target(f, Proof{})
	u.step(Step{Do: "undo " + s.Do, On: s.On, For: []string{f}, Change: Change{Affinity: &a}})
}

func (u *undoer) endpoint(s *Step, e Entry, f string) {
	var is endpointIs
	switch {
	case s.Endpoint.Instead != model.Ref{}:
		u.refuse(f, "the pod has its endpoint on the node where it is; the other would stay for ever")
	case s.Endpoint.Want != nil && len(e.Was) > 0 && string(e.Was) != "null":
		u.refuse(f, "the endpoint is of the sandbox that runs: that is not taken from it")
	case s.Endpoint.Want != nil:
		if json.Unmarshal(s.Endpoint.Want, &is) != nil {
			return
		}
		u.target(f, Proof{NotInUse: &NotInUse{IPs: addressesOf(is.Spec.IPNetworks), Containers: []string{is.Spec.ContainerID}}})
		u.step(Step{Do: "undo " + s.Do, On: s.On, For: []string{f}, Change: Change{Endpoint: &Endpoint{Container: is.Spec.ContainerID}}})
	default:
		if json.Unmarshal(e.Was, &is) != nil {
			u.refuse(f, "the journal does not say what the endpoint was")
			return
		}
		ns, _, _ := strings.Cut(s.On.Name, "/")
		u.target(f, Proof{Running: &RunningPod{Namespace: ns, Pod: is.Spec.Pod, Node: is.Spec.Node, Container: is.Spec.ContainerID, IPs: addressesOf(is.Spec.IPNetworks)}})
		u.step(Step{Do: "undo " + s.Do, On: s.On, For: []string{f}, Change: Change{Endpoint: &Endpoint{Want: e.Was}}})
	}
}

// annotation empties what was written for a sandbox that has died since; that of one that
// lives is not taken from it.
func (u *undoer) annotation(s *Step, f string) {
	a := s.Annotate
	dead := &NotInUse{Containers: []string{a.Container}}
	for _, ip := range a.IPs {
		dead.IPs = append(dead.IPs, ip.Addr())
	}
	u.target(f, Proof{NotInUse: dead})
	u.step(Step{Do: "undo " + s.Do, On: s.On, For: []string{f}, Change: Change{Annotate: &Annotate{UID: a.UID, Container: a.Container, From: a.Container, Empty: true}}})
}

func addressesOf(networks []string) []netip.Addr {
	var out []netip.Addr
	for _, n := range networks {
		if p, err := netip.ParsePrefix(n); err == nil && !slices.Contains(out, p.Addr()) {
			out = append(out, p.Addr())
		}
	}
	return out
}
