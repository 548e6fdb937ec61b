package timeline

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// sameCall is how far apart the lines of one DEL stand at most.
const sameCall = 30 * time.Second

// A robbery is a DEL of one life that took what another had.
type robbery struct{ culprit, victim *life }

// lateDel finds DELs of older sandboxes that took what a newer one of the same name had.
func lateDel(s *Story, lives []*life) []Verdict {
	at, first := map[robbery]int{}, map[int]int{}
	var who []robbery
	var out []Verdict
	for _, a := range lives {
		for _, d := range a.events {
			b := s.robbed(a, d, lives)
			if b == nil {
				continue
			}
			lost := s.takes(d, a, b)
			if lost == "" {
				continue
			}
			r := robbery{a, b}
			n, ok := at[r]
			if !ok {
				n = len(out)
				at[r], first[n] = n, d
				who, out = append(who, r), append(out, s.late(a, b, d))
			}
			v := &out[n]
			v.Lines = append(v.Lines, s.lines(d)...)
			if !slices.Contains(v.Lost, lost) {
				v.Lost = append(v.Lost, lost)
			}
		}
	}
	for n := range out {
		slices.Sort(out[n].Lost)
		s.sayLate(&out[n], who[n], first[n])
	}
	return out
}

// sayLate says what a verdict comes to whose first event is d. A handle that is by name
// may have held nothing of the victim.
func (s *Story) sayLate(v *Verdict, r robbery, d int) {
	a, b := r.culprit.name(), r.victim.name()
	after := lasted(v.At.Sub(s.Events[r.victim.add].At))
	v.Says = fmt.Sprintf("%s destroyed %s of %s, %s after its ADD", a, and(v.Lost), b, after)
	if !slices.Contains(v.Lost, "handle") || !keyedByID(s, r.victim) {
		return
	}
	v.NotShown = slices.Insert(v.NotShown, 0, fmt.Sprintf("whether that handle held anything of %s: its address was given under one with its own ID", b))
	if len(v.Lost) == 1 {
		v.Certainty = Likely
		v.Says = fmt.Sprintf("%s released handle %s, which is by name and not its own, %s after the ADD of %s", a, s.Events[d].Object, after, b)
	}
}

// robbed gives the newest life that had the name when event d of life a took something,
// nil if a had it itself, or if nobody else had it for certain.
func (s *Story) robbed(a *life, d int, lives []*life) *life {
	var b *life
	for _, o := range lives {
		if o == a || o.ID == "" || o.add < 0 || o.add >= d || s.before(o.add, d) == unknown || a.add > o.add {
			continue
		}
		if s.done(o, d) {
			continue
		}
		if b == nil || o.add > b.add {
			b = o
		}
	}
	return b
}

// done tells whether a life's own DEL had come before event d, or may have.
func (s *Story) done(l *life, d int) bool {
	for _, i := range l.events {
		switch s.Events[i].Kind {
		case DelBegin, DelEnd, DelStopped, EndpointDeleted, SandboxStopped, SandboxRemoved:
			if s.before(d, i) == unknown {
				return true
			}
		default:
		}
	}
	return false
}

// takes says what event d of life a took from life b, nothing if it was a's own.
func (s *Story) takes(d int, a, b *life) string {
	e := &s.Events[d]
	switch e.Kind {
	case EndpointDeleted:
		if a.Node == b.Node {
			return "endpoint"
		}
	case HandleReleased:
		if e.Object != "" && !names(e.Object, a) {
			return "handle"
		}
	case AddressReleased:
		switch {
		case names(e.Object, a):
		case e.Address.IsValid() && slices.Contains(b.Addresses, e.Address), names(e.Object, b):
			return "address"
		case !e.Address.IsValid() && e.Object != "" && sandboxOf(e.Object) == "":
			return "handle"
		}
	default:
	}
	return ""
}

// names tells whether a handle carries the life's container ID.
func names(handle string, l *life) bool { return len(l.ID) >= minID && strings.Contains(handle, l.ID) }

// late begins the verdict that event d of life a took something from life b.
func (s *Story) late(a, b *life, d int) Verdict {
	v := Verdict{
		Cause: LateDel, Certainty: Proven, Node: a.Node, At: s.Events[d].At, Culprit: a.ID, Victim: b.ID,
		Lines: s.lines(s.latest(a, d, DelBegin), b.add),
	}
	if s.before(b.add, d) != certain {
		v.Certainty = Likely
		v.NotShown = append(v.NotShown, "which came first for certain: the lines are of two clocks")
	}
	v.NotShown = append(v.NotShown, s.freed(a, b, d)...)
	return v
}

// keyedByID tells whether the life's address was given under a handle with its own ID: a
// release by name then need not be of it.
func keyedByID(s *Story, l *life) bool {
	return slices.ContainsFunc(l.events, func(i int) bool { return s.Events[i].Kind == AddressAssigned && names(s.Events[i].Object, l) })
}

// latest gives the life's last event of a kind up to event d, -1 if there is none.
func (s *Story) latest(l *life, d int, kind Kind) int {
	found := -1
	for _, i := range l.events {
		if i <= d && s.Events[i].Kind == kind {
			found = i
		}
	}
	return found
}

// freed says what is not known of b's address after a's DEL around event d.
func (s *Story) freed(a, b *life, d int) []string {
	addr, asked := b.address(), false
	var blocks []string
	for _, i := range a.events {
		e := &s.Events[i]
		if e.At.Sub(s.Events[d].At).Abs() > sameCall {
			continue
		}
		switch e.Kind {
		case AddressReleased:
			if e.Address == addr || names(e.Object, b) {
				return nil
			}
			asked = asked || !names(e.Object, a)
		case ReleaseAsked, HandleReleased:
			asked = asked || !names(e.Object, a)
		case BlockRead:
			if blockHolds(e.Object, addr) {
				blocks = nil
				continue
			}
			if !slices.Contains(blocks, e.Object) {
				blocks = append(blocks, e.Object)
			}
		default:
		}
	}
	switch {
	case !addr.IsValid() || !asked:
		return nil
	case len(blocks) > 0:
		return []string{fmt.Sprintf("whether %s was freed: a release by name was asked for, but only block %s was read", addr, and(blocks))}
	default:
		return []string{fmt.Sprintf("whether %s was freed: a release by name was asked for, and no line says what it freed", addr)}
	}
}

// blockHolds tells whether an address is in a block, written 192.168.0.64-26 or /26.
func blockHolds(block string, addr netip.Addr) bool {
	if i := strings.LastIndexByte(block, '/'); i >= 0 && strings.Contains(block[:i], "/") {
		block = block[i+1:]
	}
	if i := strings.LastIndexByte(block, '-'); i >= 0 {
		block = block[:i] + "/" + block[i+1:]
	}
	p, err := netip.ParsePrefix(block)
	return err == nil && p.Contains(addr)
}
