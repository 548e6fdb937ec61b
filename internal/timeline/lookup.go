package timeline

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Stories calls yield with every pod's story, by name, not yet judged, until it returns false.
// Nothing may be added to the log meanwhile.
func (l *Log) Stories(yield func(*Story) bool) {
	l.mu.Lock()
	x := l.indexed()
	l.mu.Unlock()
	for i := range x.pods {
		if !yield(l.story(x, &x.pods[i])) {
			return
		}
	}
}

// Pod gives the story of pod NAMESPACE/NAME, nil if no event is about it.
func (l *Log) Pod(name string) *Story {
	l.mu.Lock()
	x := l.indexed()
	l.mu.Unlock()
	n, ok := l.texts.known(name)
	if !ok {
		return nil
	}
	i, ok := x.byPod[n]
	if !ok {
		return nil
	}
	return l.story(x, &x.pods[i])
}

// PodsOf gives the pods that had the address according to any event.
func (l *Log) PodsOf(addr netip.Addr) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	want := l.addresses.number(addr)
	if want == 0 {
		return nil
	}
	x, found := l.indexed(), map[uint32]bool{}
	for n := l.events.first; n < l.events.end; n++ {
		if p := l.events.at(n); p.address == want {
			found[x.subjects[p.subject].pod] = true
		}
	}
	return l.names(found)
}

// PodsOfSandbox gives the pods of the sandboxes and containers whose ID has this prefix.
func (l *Log) PodsOfSandbox(idPrefix string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := map[uint32]bool{}
	if idPrefix != "" {
		for _, s := range l.indexed().subjects {
			for _, id := range [...]uint32{s.sandbox, s.container} {
				if strings.HasPrefix(string(l.texts.get(id)), idPrefix) {
					found[s.pod] = true
				}
			}
		}
	}
	return l.names(found)
}

func (l *Log) names(pods map[uint32]bool) []string {
	delete(pods, 0)
	var out []string
	for n := range maps.Keys(pods) {
		out = append(out, string(l.texts.get(n)))
	}
	slices.Sort(out)
	return out
}

// story unpacks and orders the events of one pod.
func (l *Log) story(x *index, t *podEvents) *Story {
	events := make([]Event, 0, t.to-t.from)
	words := map[uint32]named{}
	for _, n := range x.order[t.from:t.to] {
		p := l.events.at(int(n))
		s, ok := words[p.subject]
		if !ok {
			s = l.name(x.subjects[p.subject])
			words[p.subject] = s
		}
		events = append(events, l.unpack(p, &s))
	}
	events, apart, left := l.oneClock(events)
	inOneZone(events)
	cover := cover{Ends: l.covered(events), Dels: l.dels, Nodes: x.nodes, Named: l.named}
	s := newStory(string(l.texts.get(t.pod)), events, cover)
	if more := l.around(x, s); len(more) > 0 {
		more, _, _ = l.oneClock(append(events, more...))
		s = newStory(s.Pod, more, cover)
	}
	s.apart = apart
	s.NotShown = append(s.NotShown, left...)
	if l.dropped > 0 {
		s.NotShown = append(s.NotShown, "what the oldest lines show: the limit of stored events was reached")
	}
	return s
}

// covered gives the time of the last line of each of the events' files.
func (l *Log) covered(events []Event) map[uint16]time.Time {
	out := map[uint16]time.Time{}
	for i := range events {
		f := events[i].Place.File
		if _, ok := out[f]; !ok {
			if end, ok := l.ends[f]; ok {
				out[f] = time.Unix(0, end)
			}
		}
	}
	return out
}
