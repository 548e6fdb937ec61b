package timeline

import (
	"fmt"
	"net/netip"
)

// byTable says of a change of address what is known where only rows of tables show one of
// the two. That the name had both is shown; which was first, by the order of the lines
// alone, if all that tell are of one file.
func (s *Story) byTable(v *Verdict, a, b *life, was, is int) {
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
			v.NotShown = append(v.NotShown, fmt.Sprintf("when it had %s, and in which sandbox: it stands in a table that says neither", e.Address))
		default:
			v.NotShown = append(v.NotShown, fmt.Sprintf("when it had %s: it stands in a table without a time", e.Address))
		}
	}
}

// had names an address, and the life that had it if event i says which.
func (s *Story) had(l *life, i int) string {
	if e := &s.Events[i]; e.Sandbox == "" && e.UID == "" {
		return l.address().String()
	}
	return fmt.Sprintf("%s (%s)", l.address(), s.called(l))
}

// listedBefore tells whether every line that shows the pod with one address stands before
// every line that shows it with another, in one file.
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

// widen moves a place that is further to p; it tells whether p is of the same file.
func widen(to *Place, p Place, further bool) bool {
	if to.Line == 0 || further && to.File == p.File {
		*to = p
	}
	return to.File == p.File
}
