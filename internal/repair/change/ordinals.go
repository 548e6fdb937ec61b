package change

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// Ordinals releases, records and transfers addresses of one block.
type Ordinals []Ordinal

// An Ordinal is the change of one address of a block: From is the condition, To is written.
type Ordinal struct {
	For  string     `json:"for"` // key of the target, one of Step.For
	IP   netip.Addr `json:"ip"`
	From *Held      `json:"from,omitempty"` // nil means free
	To   *Owner     `json:"to,omitempty"`   // nil means free
}

// MaxTaken is how many addresses of a block one write takes from their owners, at most. The
// admission policy plumbline-repair-blocks refuses more. Free addresses that are recorded do not
// count.
const MaxTaken = 8

// Key is the name in the JSON of a step.
func (os Ordinals) Key() string { return "ordinals" }

// Kind is that of blocks.
func (os Ordinals) Kind() model.Kind { return model.KindBlock }

// LeastRisk is Safe: the address may be free or in no use.
func (os Ordinals) LeastRisk() Risk { return Safe }

// Free reports that addresses are only released.
func (os Ordinals) Free() bool {
	return len(os) > 0 && !slices.ContainsFunc(os, func(o Ordinal) bool { return o.To != nil })
}

// GiveTo reports that an address is allocated to the handle.
func (os Ordinals) GiveTo(handle string) bool {
	return slices.ContainsFunc(os, func(o Ordinal) bool { return o.To != nil && o.To.Handle == handle })
}

// Without gives the addresses whose findings are not gone; nil if there are none.
func (os Ordinals) Without(gone func(finding string) bool) Change {
	left := slices.DeleteFunc(slices.Clone(os), func(o Ordinal) bool { return gone(o.For) })
	if len(left) == 0 {
		return nil
	}
	return left
}

// Describe lists the first addresses with their owners before and after.
func (os Ordinals) Describe() string {
	var parts []string
	said := map[netip.Addr]bool{} // two findings may need the same change
	for i, o := range os {
		if len(parts) == 4 {
			parts = append(parts, fmt.Sprintf("%d more", len(os)-i))
			break
		}
		if !said[o.IP] {
			said[o.IP] = true
			parts = append(parts, o.describe())
		}
	}
	return strings.Join(parts, "; ")
}

func (o *Ordinal) describe() string {
	from, to := "free", "free"
	if o.From != nil {
		from = cmp.Or(o.From.Handle, "allocated")
	}
	if o.To != nil {
		to = o.To.Handle
		if o.From != nil && o.From.Handle == to {
			to = "same handle, corrected owner"
		}
	}
	return fmt.Sprintf("%s: %s -> %s", o.IP, from, to)
}

// Validate returns an error unless a release has a NotInUse proof with the address and its
// container, and a transfer to a new owner a Running proof with the address.
func (os Ordinals) Validate(u Use) error {
	switch n := os.taken(); {
	case len(os) == 0:
		return errors.New("it has 0 changes, not 1")
	case n > MaxTaken:
		return fmt.Errorf("it takes %d addresses from their owners in one write; at most %d are allowed", n, MaxTaken)
	}
	for _, o := range os {
		p := u.Proofs[o.For]
		if p == nil {
			return fmt.Errorf("it changes %s for %q, which is not among its targets", o.IP, o.For)
		}
		switch {
		case o.To == nil && !p.NotInUse.covers(o):
			return fmt.Errorf("it releases %s without verification that it is not in use", o.IP)
		case o.To == nil && len(p.NotInUse.Except) > 0:
			return fmt.Errorf("it releases %s, but the verification that it is not in use has exceptions", o.IP)
		case o.To != nil && o.To.Handle == "" && !o.restores():
			return fmt.Errorf("it records %s without a handle", o.IP)
		case o.To != nil && o.From != nil && !o.restores() && (p.Running == nil || !slices.Contains(p.Running.IPs, o.IP)):
			return fmt.Errorf("it transfers %s without verification that the pod that receives the record is running", o.IP)
		case !u.Undo && !p.Running.receives(o):
			return fmt.Errorf("it records %s for another owner than the pod that is verified as running", o.IP)
		}
	}
	return nil
}

// restores reports that the owner before the write is our temporary handle.
func (o *Ordinal) restores() bool {
	return o.From != nil && strings.HasPrefix(o.From.Handle, model.HoldPrefix)
}

// Merge adds addresses. Two findings may need the same change of one address: it is listed
// once per finding, so that it is done while either finding is still repaired. It is false if
// they need different changes of one address, or take too many: one write cannot do both.
func (os Ordinals) Merge(with Change) (Change, bool) {
	more, ok := with.(Ordinals)
	if !ok {
		return nil, false
	}
	for _, o := range more {
		for _, have := range os {
			if have.IP == o.IP && (!reflect.DeepEqual(have.From, o.From) || !reflect.DeepEqual(have.To, o.To)) {
				return nil, false
			}
		}
	}
	both := slices.Clone(os)
	for _, o := range more {
		if !slices.ContainsFunc(os, func(have Ordinal) bool { return have.IP == o.IP && have.For == o.For }) {
			both = append(both, o)
		}
	}
	if both.taken() > MaxTaken {
		return nil, false
	}
	return both, true
}

// taken is how many addresses are taken from their owners.
func (os Ordinals) taken() int {
	ips := map[netip.Addr]bool{}
	for i := range os {
		if os[i].From != nil {
			ips[os[i].IP] = true
		}
	}
	return len(ips)
}

// Reads names the handles that get addresses.
func (os Ordinals) Reads(model.Ref, model.Object) ([]model.Ref, error) { return receivers(os), nil }

// Edit changes the addresses. If one address of a finding is not as the plan saw it, no
// address of that finding is changed: the addresses of one handle are released together or
// not at all.
func (os Ordinals) Edit(sc Scene) (Edited, error) {
	b, err := sc.liveBlock()
	if err != nil {
		return Edited{}, err
	}
	kept := slices.DeleteFunc(slices.Clone(os), func(o Ordinal) bool { return !sc.Keep(o.For) })
	short, err := b.uncounted(&sc, kept)
	if err != nil {
		return Edited{}, err
	}
	e := Edited{Dropped: map[string]string{}}
	open, reached := map[string]bool{}, map[string]bool{} // findings with an address to change, and with an address that already is right
	for _, o := range os {
		if !sc.Keep(o.For) {
			continue
		}
		switch todo, why := b.compare(o); {
		case why != "":
			e.Dropped[o.For] = why
		case todo && o.To != nil && !b.sound(): // a new attribute may get the index at which an ordinal points
			e.Dropped[o.For] = "the block is inconsistent (PL1004)"
		case todo && o.To != nil && short[o.To.Handle]:
			e.Dropped[o.For] = fmt.Sprintf("handle %s does not count %s yet", o.To.Handle, o.IP)
		case todo:
			open[o.For] = true
		default:
			reached[o.For] = true
		}
	}
	var was, now []ordinalWas
	for _, o := range os {
		if !open[o.For] || e.Dropped[o.For] != "" {
			continue
		}
		if todo, _ := b.compare(o); !todo {
			continue
		}
		n := b.ordinal(o.IP)
		was = append(was, b.was(o, n))
		if t, takes := b.taking(o, n); takes {
			e.Takes = append(e.Takes, t)
		}
		b.change(n, o.To)
		now = append(now, b.was(o, n))
		e.For = appendNew(e.For, o.For)
	}
	if len(e.For) == 0 {
		return e, e.nothing(reached)
	}
	e.Delete = b.empty() && b.ownerless()
	return b.edited(sc, e, was, now)
}

// change releases an ordinal (to is nil), or allocates it.
func (b *block) change(n int, to *Owner) {
	if to == nil {
		b.release(n)
	} else {
		b.give(n, to.attribute(b.holder(n)))
	}
}

// nothing gives why no address is changed.
func (e *Edited) nothing(reached map[string]bool) error {
	for f := range reached {
		if e.Dropped[f] == "" {
			return ErrAlready
		}
	}
	if len(e.Dropped) == 0 {
		return moved("none of its findings is left")
	}
	return moved("%s", e.Dropped[slices.Min(slices.Collect(maps.Keys(e.Dropped)))])
}
