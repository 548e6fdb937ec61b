package parse

import "plumbline.dev/plumbline/internal/timeline"

// maxSeen bounds how many IDs of one file are remembered: a node has a few hundred at a
// time, and what was forgotten only leaves a field empty.
const maxSeen = 2048

// sandboxes remembers whose the IDs of a file are, for most lines name only one of pod,
// UID, sandbox and container. Nothing is in it that a line did not say.
type sandboxes struct {
	known map[string]owner
	order []string // the IDs in a ring, the oldest at next
	next  int
	about described
	asked listing
}

// An owner is what an ID belongs to. A sandbox belongs to itself.
type owner struct{ sandbox, pod, uid string }

// described is the pod that `kubectl describe` wrote of before its table of events.
type described struct{ name, namespace, node string }

// put remembers an ID; what was known of it before stays.
func (s *sandboxes) put(id string, w owner) {
	if id == "" || w == (owner{}) {
		return
	}
	if s.known == nil {
		s.known = map[string]owner{}
	}
	old, there := s.known[id]
	if w.sandbox == "" {
		w.sandbox = old.sandbox
	}
	if w.pod == "" {
		w.pod = old.pod
	}
	if w.uid == "" {
		w.uid = old.uid
	}
	s.known[id] = w
	switch {
	case there:
	case len(s.order) < maxSeen:
		s.order = append(s.order, id)
	default:
		delete(s.known, s.order[s.next])
		s.order[s.next] = id
		s.next = (s.next + 1) % maxSeen
	}
}

// complete adds to an event what earlier lines said of its IDs, and remembers what it
// says itself.
func (s *sandboxes) complete(e *timeline.Event) {
	if e.Container != "" && s.known[e.Container].sandbox == e.Container {
		e.Sandbox, e.Container = e.Container, ""
		e.Kind = ofSandbox(e.Kind)
	}
	if e.Sandbox == "" && e.Container != "" {
		e.Sandbox = s.known[e.Container].sandbox
	}
	for _, id := range [...]string{e.Container, e.Sandbox, e.UID} {
		w := s.known[id]
		if e.Pod == "" {
			e.Pod = w.pod
		}
		if e.UID == "" && (e.Pod == w.pod || w.pod == "") {
			e.UID = w.uid
		}
	}
	s.put(e.Sandbox, owner{e.Sandbox, e.Pod, e.UID})
	s.put(e.Container, owner{e.Sandbox, e.Pod, e.UID})
	if e.UID != "" && e.Pod != "" {
		s.put(e.UID, owner{"", e.Pod, e.UID})
	}
}

// ofSandbox gives what it means for a sandbox that its container did something. That it
// died does not mean that the sandbox was stopped: its network may still be there.
func ofSandbox(k timeline.Kind) timeline.Kind {
	switch k {
	case timeline.ContainerStarted:
		return timeline.SandboxCreated
	case timeline.ContainerKillFailed:
		return timeline.SandboxStopFailed
	default:
		return k
	}
}
