package timeline

import (
	"fmt"
	"net/netip"
)

// byTable sets what is known of a change of address where only table rows show one of the two
// addresses. That the name had both is proven; which came first follows from the order of the
// lines, and only if all lines that show either address are in one file.
func (s *Story) byTable(v *Verdict, a, b *instance, was, is int) {
	if !s.listedBefore(a.address(), b.address()) {
		v.Certainty = Likely
	}
	v.Says = fmt.Sprintf("%s became %s", s.had(a, was), s.had(b, is))
	if at := s.Events[is].At; !at.IsZero() {
		v.Says += " by " + clock(at)
	}
	for _, i := range []int{was, is} {
		switch e := &s.Events[i]; {
		case !e.At.IsZero():
		case e.Sandbox == "" && e.UID == "":
			if i == was {
				v.Culprit = ""
			} else {
				v.Victim = ""
			}
			v.NotShown = append(v.NotShown, fmt.Sprintf("when it had %s, and in which sandbox: the table that shows it has neither", e.Address))
		default:
			v.NotShown = append(v.NotShown, fmt.Sprintf("when it had %s: the table that shows it has no times", e.Address))
		}
	}
}

// had names an address, and the instance that had it if event i shows which.
func (s *Story) had(l *instance, i int) string {
	if e := &s.Events[i]; e.Sandbox == "" && e.UID == "" {
		return l.address().String()
	}
	return fmt.Sprintf("%s (%s)", l.address(), s.called(l))
}

// listedBefore reports whether all lines that show the pod with either address are in one file,
// and those with was are before those with is.
func (s *Story) listedBefore(was, is netip.Addr) bool {
	last, first := Place{}, Place{}
	for i := range s.Events {
		e := &s.Events[i]
		switch e.Kind {
		case PodSeen, SandboxCreated, AddEnd, AddressAssigned, EndpointWritten:
		default:
			continue
		}
		for _, p := range s.Places(i) {
			if e.Address == was && !widen(&last, p, p.Line > last.Line) || e.Address == is && !widen(&first, p, p.Line < first.Line) {
				return false
			}
		}
	}
	return last.Line > 0 && first.Line > 0 && last.File == first.File && last.Line < first.Line
}

// widen sets *to to p if *to is empty, or if p is further in the same file. It reports whether
// p is of the same file.
func widen(to *Place, p Place, further bool) bool {
	if to.Line == 0 || further && to.File == p.File {
		*to = p
	}
	return to.File == p.File
}
