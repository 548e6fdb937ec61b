package timeline

import (
	"fmt"
	"slices"
	"time"
)

// skewSaid is the difference of two clocks from which on it is reported: some time also passes
// between a call and the line about it.
const skewSaid = 500 * time.Millisecond

// skew reports the difference between the clocks of the control plane and the node, where both
// logs report the same event. No time is corrected by it: verdicts allow for clockSlack anyway.
func skew(in []timed) string {
	var apart []time.Duration
	for i := range in {
		if e := &in[i].e; e.Source == "audit" && e.Kind == EndpointWritten && !e.At.IsZero() {
			if d, ok := twin(in, i); ok {
				apart = append(apart, d)
			}
		}
	}
	if len(apart) < 2 {
		return ""
	}
	slices.Sort(apart)
	median := apart[len(apart)/2].Abs()
	if median < skewSaid {
		return ""
	}
	return fmt.Sprintf("which clock is right: the clocks of the node and the control plane differ by about %s, by %d events that both report",
		median.Round(100*time.Millisecond), len(apart))
}

// twin finds the same event in a log of the node, and gives how much later its timestamp is.
func twin(in []timed, i int) (time.Duration, bool) {
	e := &in[i].e
	for k := max(0, i-lookBack); k < min(len(in), i+lookBack); k++ {
		o := &in[k].e
		if o.Kind == e.Kind && onNode(o.Source) && o.Sandbox != "" && o.Sandbox == e.Sandbox && !o.At.IsZero() {
			if d := o.At.Sub(e.At); d.Abs() <= clockSlack {
				return d, true
			}
		}
	}
	return 0, false
}

// clockSlack is how far the clocks of two nodes may be apart, each two seconds off.
const clockSlack = 4 * time.Second

// order is how certain it is that one event was before another.
type order int

const (
	unknown order = iota // not before, or the clocks allow both orders
	likely               // by two clocks, more than clockSlack apart
	certain              // by line order in one file, or by one node's clock, more than sameNode apart
)

// before reports whether event i was before event k. The result is unknown unless the difference
// is larger than the error of the clocks, so !before(i, k) does not mean that k was before i.
// Verdicts rely on this: what must have happened before needs before(i, k) != unknown, and what
// must not have happened before is excluded only by before(k, i) != unknown.
func (s *Story) before(i, k int) order {
	a, b := &s.Events[i], &s.Events[k]
	if a.At.IsZero() || b.At.IsZero() {
		return unknown
	}
	if first, shared := s.firstInFile(i, k); shared {
		if i < k && first {
			return certain
		}
		return unknown
	}
	apart := b.At.Sub(a.At)
	switch {
	case !sameZone(a, b):
		if a.Zone != ZoneAssumed && b.Zone != ZoneAssumed && apart > clockSlack {
			return likely
		}
	case a.Node == b.Node && onNode(a.Source) == onNode(b.Source):
		if apart > sameNode {
			return certain
		}
	case apart > clockSlack:
		return likely
	}
	return unknown
}

// sameZone reports whether the times of two events can be compared whatever their zones are: both
// are shown, or both are of processes of one node, or no log at all shows a zone.
func sameZone(a, b *Event) bool {
	if a.Zone <= ZoneOfFile && b.Zone <= ZoneOfFile {
		return true
	}
	return a.Zone == b.Zone && (a.Zone == ZoneAssumed || a.Node == b.Node && hostSource(a.Source) == hostSource(b.Source))
}

// firstInFile reports whether one file has a line of each event, and whether that of i is above that
// of k in every such file. Where a clock was set back, times say otherwise.
func (s *Story) firstInFile(i, k int) (first, shared bool) {
	first = true
	for _, p := range s.Places(i) {
		for _, q := range s.Places(k) {
			if p.File == q.File {
				shared = true
				first = first && p.Line <= q.Line
			}
		}
	}
	return first, shared
}
