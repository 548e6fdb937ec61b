package timeline

import (
	"fmt"
	"slices"
	"time"
)

// skewSaid is how far two clocks may be apart before it is worth a line: between a call
// and the line about it lies some time too.
const skewSaid = 500 * time.Millisecond

// skew says how far the control plane's clock and the node's are apart, where both tell
// the same happening. It moves nothing: verdicts allow for clocks anyway.
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
	return fmt.Sprintf("which clock is right: the node's and the control plane's are about %s apart, by %d happenings that both tell",
		median.Round(100*time.Millisecond), len(apart))
}

// twin finds the same happening told by a node's own log.
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

// clockSlack is what two nodes' clocks may be apart, each two seconds from the truth.
const clockSlack = 4 * time.Second

// order says how certain it is that one event was before another.
type order int

const (
	unknown order = iota
	likely        // by two clocks
	certain       // by the lines of one file, or one node's clock
)

// before tells whether event i was before event k, by more than clocks could turn round.
func (s *Story) before(i, k int) order {
	a, b := &s.Events[i], &s.Events[k]
	if a.At.IsZero() || b.At.IsZero() {
		return unknown
	}
	if s.shareFile(i, k) {
		if i < k {
			return certain
		}
		return unknown
	}
	apart := b.At.Sub(a.At)
	switch {
	case a.Node == b.Node && onNode(a.Source) == onNode(b.Source):
		if apart > sameNode {
			return certain
		}
	case apart > clockSlack:
		return likely
	}
	return unknown
}

func (s *Story) shareFile(i, k int) bool {
	for _, p := range s.Places(i) {
		for _, q := range s.Places(k) {
			if p.File == q.File {
				return true
			}
		}
	}
	return false
}
