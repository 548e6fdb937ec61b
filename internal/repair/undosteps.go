package repair

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// ordinals undoes the change of a block, address by address.
func (u *undoer) ordinals(s *Step, e Entry) {
	var was, now []ordinalWas
	if json.Unmarshal(e.Was, &was) != nil || json.Unmarshal(e.Now, &now) != nil || len(was) != len(now) {
		for _, f := range e.For {
			u.refuse(f, "the journal does not have the former content of the block")
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
			u.refuse(was[i].For, "the journal does not have the former owner of "+was[i].IP.String())
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

// ordinal undoes the change of one address; ok is false if that is refused.
// A released address is allocated again if it is still free. A recorded address is released
// with the verification of a release. A temporary handle is replaced by the former owner. A
// transfer to the pod that uses the address is not undone.
func (u *undoer) ordinal(cidr netip.Prefix, was, now ordinalWas, before, after *object.Attribute) (Ordinal, bool) {
	o := Ordinal{For: was.For, IP: was.IP}
	if after != nil {
		o.From = &Held{Attribute: after.Row(), Sequence: now.Sequence}
		u.recount(was.For, after.Handle.V, []netip.Prefix{cidr}, nil)
	}
	switch {
	case before == nil && after != nil:
		unused := &NotInUse{IPs: []netip.Addr{was.IP}}
		if id := model.ContainerOf(after.Handle.V); id != "" {
			unused.Containers = []string{id}
		}
		u.target(was.For, Proof{NotInUse: unused})
		return o, true
	case before != nil && before.Handle.V == "" && (after == nil || !strings.HasPrefix(after.Handle.V, HoldPrefix)):
		u.refuse(was.For, was.IP.String()+" had no handle: it could not be released again")
		return o, false
	case after != nil && !strings.HasPrefix(after.Handle.V, HoldPrefix):
		u.refuse(was.For, was.IP.String()+" is recorded for the pod that uses it and is not taken from it")
		return o, false
	}
	o.To = &Owner{Handle: before.Handle.V, Secondary: before.Secondary.V}
	u.target(was.For, u.unused(was, before))
	if h := before.Handle.V; h != "" { // the former handle did not count it while our temporary handle had it
		u.step(Step{Do: "raise", On: model.Ref{Kind: model.KindHandle, Name: h}, For: []string{was.For}, Change: Change{Count: &Count{Handle: h, Raise: []Raise{{Block: cidr, IPs: []netip.Addr{was.IP}}}}}})
	}
	u.recount(was.For, before.Handle.V, []netip.Prefix{cidr}, nil)
	return o, true
}

// unused gives what must be verified before an address is allocated to its former owner
// again: no other sandbox uses it. Another pod may have received it and lost its record
// since. The nodes that verified the release verify this.
func (u *undoer) unused(was ordinalWas, before *object.Attribute) Proof {
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
	_ = json.Unmarshal(e.Was, &was) // empty: the affinity did not exist
	a := *s.Affinity
	a.UID = ""
	switch {
	case a.Want == affinityGone:
		a.Want, a.From, a.Label = affinityConfirmed, "", object.AffinityLabels(a.Node, a.CIDR)
	case a.Want == affinityLabelled:
		u.refuse(f, "labels by which IPAM selects an affinity are not removed")
		return
	case was == "":
		a.Want, a.From = affinityGone, a.Want
	default:
		u.refuse(f, "a confirmed affinity is not set back")
		return
	}
	u.target(f, Proof{})
	u.step(Step{Do: "undo " + s.Do, On: s.On, For: []string{f}, Change: Change{Affinity: &a}})
}

func (u *undoer) endpoint(s *Step, e Entry, f string) {
	var is endpointIs
	switch {
	case s.Endpoint.Instead != model.Ref{}:
		u.refuse(f, "the pod has its endpoint on the node that runs it; the other would never be deleted")
	case s.Endpoint.Want != nil && len(e.Was) > 0 && string(e.Was) != "null":
		u.refuse(f, "the endpoint names the running sandbox and is not changed back")
	case s.Endpoint.Want != nil:
		if json.Unmarshal(s.Endpoint.Want, &is) != nil {
			return
		}
		u.target(f, Proof{NotInUse: &NotInUse{IPs: addressesOf(is.Spec.IPNetworks), Containers: []string{is.Spec.ContainerID}}})
		u.step(Step{Do: "undo " + s.Do, On: s.On, For: []string{f}, Change: Change{Endpoint: &Endpoint{Container: is.Spec.ContainerID}}})
	default:
		if json.Unmarshal(e.Was, &is) != nil {
			u.refuse(f, "the journal does not have the former endpoint")
			return
		}
		ns, _, _ := strings.Cut(s.On.Name, "/")
		u.target(f, Proof{Running: &RunningPod{Namespace: ns, Pod: is.Spec.Pod, Node: is.Spec.Node, Container: is.Spec.ContainerID, IPs: addressesOf(is.Spec.IPNetworks)}})
		u.step(Step{Do: "undo " + s.Do, On: s.On, For: []string{f}, Change: Change{Endpoint: &Endpoint{Want: e.Was}}})
	}
}

// annotation clears the annotation that was written, if its sandbox is gone since. The
// verification fails if the sandbox is running.
func (u *undoer) annotation(s *Step, f string) {
	a := s.Annotate
	unused := &NotInUse{Containers: []string{a.Container}}
	for _, ip := range a.IPs {
		unused.IPs = append(unused.IPs, ip.Addr())
	}
	u.target(f, Proof{NotInUse: unused})
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
