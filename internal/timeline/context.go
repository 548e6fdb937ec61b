package timeline

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Bounds of the node events that are added to a story.
const (
	maxContext    = 20
	contextMargin = 10 * time.Minute
)

// around gives the events of whole nodes (kubelet restarts, mounts, readiness) while the story
// had events there, contextMargin before and after included. At most maxContext are given, those
// nearest in time to an event of the story. A repeated event is given once with its count.
func (l *Log) around(x *index, s *Story) []Event {
	type near struct {
		event, last uint32
		distance    int64
		count       int
	}
	var found []near
	for node, times := range s.times() {
		n, ok := l.texts.known(node)
		if !ok {
			continue
		}
		list := x.context[n]
		from := times[0].Add(-contextMargin).UnixNano()
		to := times[len(times)-1].Add(contextMargin).UnixNano()
		i, _ := slices.BinarySearchFunc(list, from, func(e uint32, at int64) int { return cmp.Compare(l.events.at(int(e)).at, at) })
		named, held := map[uint32]bool{}, s.addresses()
		run := -1 // in found: the event that is being repeated
		for ; i < len(list) && l.events.at(int(list[i])).at <= to; i++ {
			p := l.events.at(int(list[i]))
			if p.kind == NodeNamed { // every CNI call logs it: only a name other than the node's is of interest, and once
				if named[p.object] || strings.EqualFold(string(l.texts.get(p.object)), node) {
					continue
				}
				named[p.object] = true
			}
			if ofRoute(p.kind) && !held[l.addresses.value(p.address)] {
				continue // of another pod
			}
			if run >= 0 && repeats(l.events.at(int(found[run].last)), p) {
				found[run].last = list[i]
				found[run].count++
				continue
			}
			found = append(found, near{event: list[i], last: list[i], distance: nearest(times, p.at), count: 1})
			run = len(found) - 1
		}
	}
	slices.SortFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.event, b.event)) })
	var out []Event
	zone := s.zone()
	for _, f := range found[:min(len(found), maxContext)] {
		p := l.events.at(int(f.event))
		words := l.name(x.subjects[p.subject])
		e := l.unpack(p, &words)
		e.At = e.At.In(zone)
		if f.count > 1 {
			e.Count = f.count
			e.Note = fmt.Sprintf("%d times until %s; %s", f.count, clock(time.Unix(0, l.events.at(int(f.last)).at).In(zone)), e.Note)
		}
		out = append(out, e)
	}
	return out
}

// repeats reports whether p is the same node event as the one before, less than a minute
// later: systemd restarts a kubelet that cannot start again and again.
func repeats(before, p *packed) bool {
	return before.kind == p.kind && before.object == p.object && before.address == p.address && p.at-before.at < int64(time.Minute)
}

func ofRoute(k Kind) bool { return k == RouteAdded || k == RouteRemoved }

// addresses are those that the story's events have.
func (s *Story) addresses() map[netip.Addr]bool {
	out := map[netip.Addr]bool{}
	for i := range s.Events {
		if a := s.Events[i].Address; a.IsValid() {
			out[a] = true
		}
	}
	return out
}

// times gives the times of the story's events on each node, in order.
func (s *Story) times() map[string][]time.Time {
	out := map[string][]time.Time{}
	for i := range s.Events {
		if e := &s.Events[i]; e.Node != "" && !e.At.IsZero() {
			out[e.Node] = append(out[e.Node], e.At)
		}
	}
	return out
}

// nearest gives the distance of a time to the nearest of times. times may be slightly out of
// order (see inOrder), so the result may be slightly too large.
func nearest(times []time.Time, at int64) int64 {
	i, _ := slices.BinarySearchFunc(times, at, func(t time.Time, at int64) int { return cmp.Compare(t.UnixNano(), at) })
	best := int64(contextMargin) * 2
	for _, k := range [...]int{i - 1, i} {
		if k >= 0 && k < len(times) {
			d := times[k].UnixNano() - at
			best = min(best, max(d, -d))
		}
	}
	return best
}
