package change

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// An ordinalWas is the state of one address in a journal: enough to undo its change.
type ordinalWas struct {
	IP        netip.Addr      `json:"ip"`
	For       string          `json:"for"`
	Attribute json.RawMessage `json:"attribute,omitempty"` // empty means free
	Sequence  uint64          `json:"sequence,omitempty,string"`
}

// owner parses the attribute of a journal entry; nil means free.
func (w *ordinalWas) owner() (*object.Attribute, bool) {
	if len(w.Attribute) == 0 {
		return nil, true
	}
	var at object.Attribute
	return &at, json.Unmarshal(w.Attribute, &at) == nil
}

// NoUndo says that an address of a running pod is not taken from it.
func (os Ordinals) NoUndo(finding string) (why string, undoable bool) {
	if slices.ContainsFunc(os, func(o Ordinal) bool { return o.For == finding && o.From != nil && o.To != nil }) {
		return "an address that is recorded for the pod that uses it is not taken from it", false
	}
	return "", true
}

// Undo undoes the change of a block, address by address.
func (os Ordinals) Undo(w Write, u Undoer) {
	var was, now []ordinalWas
	if json.Unmarshal(w.Was, &was) != nil || json.Unmarshal(w.Now, &now) != nil || len(was) != len(now) {
		for _, f := range w.For {
			u.Refuse(f, "the journal does not have the former content of the block")
		}
		return
	}
	cidr, err := netip.ParsePrefix(w.On.Name)
	if err != nil {
		return
	}
	var back Ordinals
	for i := range was {
		if !u.Wants(was[i].For) {
			continue
		}
		before, ok1 := was[i].owner()
		after, ok2 := now[i].owner()
		if !ok1 || !ok2 {
			u.Refuse(was[i].For, "the journal does not have the former owner of "+was[i].IP.String())
			continue
		}
		if o, ok := undoOrdinal(u, cidr, was[i], now[i], before, after); ok {
			back = append(back, o)
		}
	}
	for len(back) > 0 { // a write that recorded many free addresses is undone in several
		n := 1
		for n < len(back) && back[:n+1].taken() <= MaxTaken {
			n++
		}
		var of []string
		for _, o := range back[:n] {
			of = appendNew(of, o.For)
		}
		u.Step("undo "+w.Do, w.On, back[:n:n], of...)
		back = back[n:]
	}
}

// undoOrdinal undoes the change of one address; ok is false if that is refused.
// A released address is allocated again if it is still free. A recorded address is released
// with the verification of a release. A temporary handle is replaced by the former owner. A
// transfer to the pod that uses the address is not undone.
func undoOrdinal(u Undoer, cidr netip.Prefix, was, now ordinalWas, before, after *object.Attribute) (Ordinal, bool) {
	o := Ordinal{For: was.For, IP: was.IP}
	if after != nil {
		o.From = &Held{Attribute: after.Row(), Sequence: now.Sequence}
		u.Recount(was.For, after.Handle.V, cidr)
	}
	switch {
	case before == nil && after != nil:
		unused := &NotInUse{IPs: []netip.Addr{was.IP}}
		if id := model.ContainerOf(after.Handle.V); id != "" {
			unused.Containers = []string{id}
		}
		u.Need(was.For, Proof{NotInUse: unused})
		return o, true
	case before != nil && before.Handle.V == "" && (after == nil || !strings.HasPrefix(after.Handle.V, model.HoldPrefix)):
		u.Refuse(was.For, was.IP.String()+" had no handle: it could not be released again")
		return o, false
	case after != nil && !strings.HasPrefix(after.Handle.V, model.HoldPrefix):
		u.Refuse(was.For, was.IP.String()+" is recorded for the pod that uses it and is not taken from it")
		return o, false
	}
	o.To = &Owner{Handle: before.Handle.V, Secondary: before.Secondary.V}
	u.Need(was.For, unusedByOthers(u.Verified(was.For), was, before))
	if h := before.Handle.V; h != "" { // the former handle did not count it while our temporary handle had it
		raise := &Count{Handle: h, Raise: []Raise{{Block: cidr, IPs: []netip.Addr{was.IP}}}}
		u.Step("raise", model.Ref{Kind: model.KindHandle, Name: h}, raise, was.For)
	}
	u.Recount(was.For, before.Handle.V, cidr)
	return o, true
}

// unusedByOthers gives what must be verified before an address is allocated to its former
// owner again: no other sandbox uses it. Another pod may have received it and lost its record
// since. The nodes that verified the release verify this.
func unusedByOthers(verified Proof, was ordinalWas, before *object.Attribute) Proof {
	if verified.NotInUse == nil || verified.NotInUse.Calm {
		return Proof{}
	}
	d := &NotInUse{IPs: []netip.Addr{was.IP}}
	if !verified.NotInUse.All {
		d.Nodes = verified.NotInUse.Nodes
	}
	if id := model.ContainerOf(before.Handle.V); id != "" {
		d.Except = []string{id}
	}
	return Proof{NotInUse: d}
}
