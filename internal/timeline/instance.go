package timeline

import (
	"net/netip"
	"slices"
)

// An instance is one sandbox of a pod name with its events, or one pod UID where no line names
// a sandbox. ID is empty in the second case.
type instance struct {
	Sandbox
	events []int // numbers in Story.Events, ascending
	add    int   // the event that shows that its ADD succeeded, -1 if none; see record
}

// instances gives a story's instances in the order of their first event with a time. Every event
// belongs to at most one instance: that of its sandbox, else that of its UID.
func (s *Story) instances() []*instance {
	var out []*instance
	byID, byUID := map[string]*instance{}, map[string]*instance{}
	for _, b := range s.Sandboxes {
		l := &instance{Sandbox: b, add: -1}
		byID[b.ID] = l
		out = append(out, l)
	}
	for i := range s.Events {
		e := &s.Events[i]
		l := byID[e.Sandbox]
		if l == nil && e.UID != "" {
			if l = byUID[e.UID]; l == nil && !slices.ContainsFunc(s.Sandboxes, func(b Sandbox) bool { return b.UID == e.UID }) {
				l = &instance{Sandbox: Sandbox{UID: e.UID, Node: e.Node}, add: -1}
				byUID[e.UID] = l
				out = append(out, l)
			}
		}
		if l != nil {
			l.record(s, i)
		}
	}
	slices.SortStableFunc(out, func(a, b *instance) int { return s.begin(a) - s.begin(b) })
	return out
}

// begin gives the first of the instance's events that has a time, else its first event: the
// position of a table row only shows where somebody pasted it.
func (s *Story) begin(l *instance) int {
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

// record adds event i. add becomes the last event that shows the ADD; an event of the control
// plane never replaces one of the node, because its clock is another and its log has no DELs.
func (l *instance) record(s *Story, i int) {
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

// name names the instance in texts: "sandbox 94feeebc95fb", or "pod UID f8d1e7d4".
func (l *instance) name() string {
	if l.ID != "" {
		return "sandbox " + short(l.ID)
	}
	return "pod UID " + l.UID[:min(8, len(l.UID))]
}

func short(id string) string { return id[:min(minID, len(id))] }

// address gives the instance's first address.
func (l *instance) address() netip.Addr {
	if len(l.Addresses) == 0 {
		return netip.Addr{}
	}
	return l.Addresses[0]
}

// any gives the instance's first event of one of the kinds, from event from on, or -1.
func (s *Story) any(l *instance, from int, kinds ...Kind) int {
	for _, i := range l.events {
		if i >= from && slices.Contains(kinds, s.Events[i].Kind) {
			return i
		}
	}
	return -1
}

// Kinds that show the end of an instance: requested or done (ending), its DEL, successful or not
// known to have failed (delDid), its failed DEL (failed), the end of a DEL (delEnded).
var (
	delEnded = []Kind{DelEnd, DelStopped, EndpointDeleted, SandboxStopped, SandboxRemoved}
	ending   = []Kind{PodTerminating, PodKilled, PodGone, ContainerDied, SandboxStopped, SandboxRemoved}
	delDid   = []Kind{DelBegin, DelEnd, AddressReleased, ReleaseAsked, ReleaseNothing, HandleReleased, EndpointDeleted, EndpointMissing, EndpointKept, DelStopped}
	failed   = []Kind{DelFailed, SandboxStopFailed}
)

// tornDown reports whether an event shows the end of the instance: one of its own, or one that
// names only the pod, before event until, at which the next instance began.
func (s *Story) tornDown(l *instance, until int) bool {
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
