package timeline

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// sameCall is the longest time between two lines of one DEL.
const sameCall = 30 * time.Second

// A lateDelPair is an instance whose DEL removed objects of another, and that other one.
type lateDelPair struct{ culprit, victim *instance }

// lateDel finds DELs of older sandboxes that removed objects of a newer sandbox of the same name.
// An event d of instance a is evidence if holderAt finds another instance b that held the name
// at d, and takes shows that what d removed was not a's own. All events of one pair (a, b) make
// one verdict.
func lateDel(s *Story, instances []*instance) []Verdict {
	at, first := map[lateDelPair]int{}, map[int]int{}
	var who []lateDelPair
	var out []Verdict
	for _, a := range instances {
		for _, d := range a.events {
			b := s.holderAt(a, d, instances)
			if b == nil {
				continue
			}
			lost := s.takes(d, a, b)
			if lost == "" {
				continue
			}
			r := lateDelPair{a, b}
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
		s.describeLate(&out[n], who[n], first[n])
	}
	return out
}

// describeLate sets the text of a verdict whose first event is d. A handle that is keyed by pod
// name may not have held an address of the victim, so a verdict about such a handle alone is
// likely, not proven, where the victim's address is known to be under a handle of its own.
func (s *Story) describeLate(v *Verdict, r lateDelPair, d int) {
	a, b := r.culprit.name(), r.victim.name()
	after := lasted(v.At.Sub(s.Events[r.victim.add].At))
	v.Says = fmt.Sprintf("the DEL of %s removed the %s of %s, %s after its ADD", a, and(v.Lost), b, after)
	if !slices.Contains(v.Lost, "handle") || !keyedByID(s, r.victim) {
		return
	}
	v.NotShown = slices.Insert(v.NotShown, 0, fmt.Sprintf("whether that handle held an address of %s: its address was assigned under a handle with its own container ID", b))
	if len(v.Lost) == 1 {
		v.Certainty = Likely
		v.Says = fmt.Sprintf("the DEL of %s released handle %s, which is keyed by pod name and not its own, %s after the ADD of %s", a, s.Events[d].Object, after, b)
	}
}

// holderAt gives the newest instance other than a that held the pod name at event d of a. Its
// ADD is before d (not just possibly, see before) and not before a's ADD, and its own DEL is not
// and cannot be before d. nil if there is none: then d removed what was a's own, or nothing is
// certain.
func (s *Story) holderAt(a *instance, d int, instances []*instance) *instance {
	var b *instance
	for _, o := range instances {
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

// done reports whether the instance's own DEL was, or may have been, before event d: it is not
// certainly after it.
func (s *Story) done(l *instance, d int) bool {
	return s.mayPrecede(l, d, DelBegin, DelEnd, DelStopped, EndpointDeleted, SandboxStopped, SandboxRemoved)
}

// mayPrecede reports whether an event of the instance of one of these kinds is not certainly after
// event d.
func (s *Story) mayPrecede(l *instance, d int, kinds ...Kind) bool {
	return slices.ContainsFunc(l.events, func(i int) bool { return slices.Contains(kinds, s.Events[i].Kind) && s.before(d, i) == unknown })
}

// firstAfter gives the instance's first event of one of these kinds that is after event d, or -1.
func (s *Story) firstAfter(l *instance, d int, kinds ...Kind) int {
	for _, i := range l.events {
		if slices.Contains(kinds, s.Events[i].Kind) && s.before(d, i) != unknown {
			return i
		}
	}
	return -1
}

// takes gives what event d of instance a removed from instance b: "endpoint", "handle" or
// "address"; empty if it was a's own. An endpoint is found by node and pod name, so on one node
// it is b's. A handle or address is a's own if the handle carries a's container ID.
func (s *Story) takes(d int, a, b *instance) string {
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
		case !e.Address.IsValid() && e.Object != "" && SandboxOf(e.Object) == "":
			return "handle"
		}
	default:
	}
	return ""
}

// names reports whether a handle carries the instance's container ID.
func names(handle string, l *instance) bool {
	return len(l.ID) >= minID && strings.Contains(handle, l.ID)
}

// late starts the verdict that event d of instance a removed something of instance b. It is
// proven only if one file or one clock orders b's ADD and d.
func (s *Story) late(a, b *instance, d int) Verdict {
	v := Verdict{
		Cause: LateDel, Certainty: Proven, Node: a.Node, At: s.Events[d].At, Culprit: a.ID, Victim: b.ID,
		Lines: s.lines(s.latest(a, d, DelBegin), b.add),
	}
	if s.before(b.add, d) != certain {
		v.Certainty = Likely
		v.NotShown = append(v.NotShown, "which came first: the lines have timestamps of two clocks")
	}
	v.NotShown = append(v.NotShown, s.freed(a, b, d)...)
	return v
}

// keyedByID reports whether the instance's address was assigned under a handle with its own
// container ID: a release by pod name then need not concern it.
func keyedByID(s *Story, l *instance) bool {
	return slices.ContainsFunc(l.events, func(i int) bool { return s.Events[i].Kind == AddressAssigned && names(s.Events[i].Object, l) })
}

// latest gives the instance's last event of a kind up to event d, -1 if there is none.
func (s *Story) latest(l *instance, d int, kind Kind) int {
	found := -1
	for _, i := range l.events {
		if i <= d && s.Events[i].Kind == kind {
			found = i
		}
	}
	return found
}

// freed gives what the lines do not show about b's address after a's DEL at event d: nothing if
// a line reports its release, or if no release but a's own was requested.
func (s *Story) freed(a, b *instance, d int) []string {
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
		return []string{fmt.Sprintf("whether %s was released: a release by name was requested, but only block %s was read", addr, and(blocks))}
	default:
		return []string{fmt.Sprintf("whether %s was released: a release by name was requested, and no line shows what it released", addr)}
	}
}

// blockHolds reports whether an address is in a block, written 192.168.0.64-26 or /26.
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
