package parse

import (
	"cmp"

	"plumbline.dev/plumbline/internal/timeline"
)

// maxSeen bounds the IDs of one file that are kept: a node has a few hundred at a time, and an
// ID that was dropped only leaves a field empty.
const maxSeen = 2048

// sandboxes keeps which pod, UID and sandbox the IDs of a file belong to, because most lines name
// only one of pod, UID, sandbox and container. It holds only what a line shows.
//
// Invariant: order has the keys of known, each once, at most maxSeen; when full, the oldest is at
// next.
type sandboxes struct {
	known map[string]owner // by sandbox ID, container ID or UID
	order []string
	next  int
	about described // the pod of the last `kubectl describe`
	asked listing   // the last `kubectl get`
}

// An owner is what an ID belongs to. The owner of a sandbox ID has that ID as sandbox.
type owner struct{ sandbox, pod, uid string }

// described is the pod that `kubectl describe` printed before its table of events.
type described struct{ name, namespace, node string }

// put adds an ID; fields that are empty in w keep their value.
func (s *sandboxes) put(id string, w owner) {
	if id == "" || w == (owner{}) {
		return
	}
	if s.known == nil {
		s.known = map[string]owner{}
	}
	old, there := s.known[id]
	w.sandbox = cmp.Or(w.sandbox, old.sandbox)
	w.pod = cmp.Or(w.pod, old.pod)
	w.uid = cmp.Or(w.uid, old.uid)
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

// complete fills the event's empty fields from earlier lines with the same IDs, and keeps what
// the event adds.
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

// ofSandbox converts the kind of an event of a pause container to that of its sandbox. Its death
// does not mean that the sandbox was stopped: its network may still exist.
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
