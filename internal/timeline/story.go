package timeline

import "time"

// cover describes the files of a story's lines: only where a file would contain a line does its
// absence mean something.
type cover struct {
	Ends  map[uint16]time.Time // per file, its latest timestamp
	Dels  map[uint16]bool      // files that contain any DEL
	Nodes map[string]bool      // nodes of which a kubelet's log was read
	Named map[string]bool      // nodes for which Calico used their own name
}

// newStory sorts one pod's events, merges those that report the same, and finds the sandboxes in
// them. It reorders the slice events. Steps: inOrder, merge, adopt, sandboxes; each relies on the
// one before.
func newStory(pod string, events []Event, cover cover) *Story {
	s := &Story{Pod: pod, cover: cover}
	in := inOrder(events)
	if says := skew(in); says != "" {
		s.NotShown = append(s.NotShown, says)
	}
	s.Events, s.Also = merge(in)
	s.adopt()
	s.Sandboxes = sandboxes(s.Events)
	return s
}

// Places gives every line that reports the event, that of the event itself first.
func (s *Story) Places(event int) []Place {
	return append([]Place{s.Events[event].Place}, s.Also[event]...)
}
