package timeline

import (
	"net/netip"
	"slices"
)

// A life is one sandbox of a name with its events, or one UID where no line names a
// sandbox.
type life struct {
	Sandbox
	events []int // in order
	add    int   // the event by which its ADD is known to have succeeded, -1 if none
}

// lives gives a story's lives in the order in which they appear.
func (s *Story) lives() []*life {
	var out []*life
	byID, byUID := map[string]*life{}, map[string]*life{}
	for _, b := range s.Sandboxes {
		l := &life{Sandbox: b, add: -1}
		byID[b.ID] = l
		out = append(out, l)
	}
	for i := range s.Events {
		e := &s.Events[i]
		l := byID[e.Sandbox]
		if l == nil && e.UID != "" {
			if l = byUID[e.UID]; l == nil && !slices.ContainsFunc(s.Sandboxes, func(b Sandbox) bool { return b.UID == e.UID }) {
				l = &life{Sandbox: Sandbox{UID: e.UID, Node: e.Node}, add: -1}
				byUID[e.UID] = l
				out = append(out, l)
			}
		}
		if l != nil {
			l.live(s, i)
		}
	}
	slices.SortStableFunc(out, func(a, b *life) int { return s.begin(a) - s.begin(b) })
	return out
}

// begin gives the first of a life's events that has a time: rows of tables stand where
// somebody pasted them. Without one it is the first.
func (s *Story) begin(l *life) int {
	for _, i := range l.events {
		if !s.Events[i].At.IsZero() {
			return i
		}
	}
	if len(l.events) == 0 {
		return 0
	}
	return l.events[0]
}

// live takes an event of the life. Its ADD is known by the last of its lines; by those of
// its node, if there are any: the control plane's clock is another, and its log tells of
// no DEL.
func (l *life) live(s *Story, i int) {
	l.events = append(l.events, i)
	switch e := &s.Events[i]; e.Kind {
	case AddEnd, EndpointWritten, AddressAssigned:
		if l.add < 0 || onNode(e.Source) || !onNode(s.Events[l.add].Source) {
			l.add = i
		}
		l.hold(e.Address)
	case PodSeen:
		l.hold(e.Address)
	default:
	}
}

// name is what a person calls the life.
func (l *life) name() string {
	if l.ID != "" {
		return short(l.ID)
	}
	return "uid " + l.UID[:min(8, len(l.UID))]
}

func short(id string) string { return id[:min(minID, len(id))] }

// address gives the life's first address.
func (l *life) address() netip.Addr {
	if len(l.Addresses) == 0 {
		return netip.Addr{}
	}
	return l.Addresses[0]
}

// any gives the first of a life's events that is one of kinds, from event from on, or -1.
func (s *Story) any(l *life, from int, kinds ...Kind) int {
	for _, i := range l.events {
		if i >= from && slices.Contains(kinds, s.Events[i].Kind) {
			return i
		}
	}
	return -1
}

// Kinds by which a life's end is known: asked for, on its way, or done.
var (
	ending = []Kind{PodTerminating, PodKilled, PodGone, ContainerDied, SandboxStopped, SandboxRemoved}
	delDid = []Kind{DelBegin, DelEnd, AddressReleased, ReleaseAsked, ReleaseNothing, HandleReleased, EndpointDeleted, EndpointMissing, EndpointKept, DelStopped}
	failed = []Kind{DelFailed, SandboxStopFailed}
)

// tornDown tells whether any line shows the life's end: its own, or the pod's while it
// was the one of that name. until is the event at which the next began.
func (s *Story) tornDown(l *life, until int) bool {
	if s.any(l, 0, ending...) >= 0 || s.any(l, 0, delDid...) >= 0 {
		return true
	}
	for i := s.begin(l); i < until; i++ {
		e := &s.Events[i]
		if (e.Sandbox == "" || l.ID == "") && (slices.Contains(ending, e.Kind) || slices.Contains(delDid, e.Kind)) {
			return true
		}
	}
	return false
}
