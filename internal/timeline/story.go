package timeline

import "time"

// Cover says what the files of a story's lines cover besides them.
type Cover struct {
	Ends  map[uint16]time.Time // per file, its latest stamp
	Dels  map[uint16]bool      // files that tell of DELs at all
	Nodes map[string]bool      // nodes whose kubelet tells of itself
	Named map[string]bool      // nodes that Calico was seen to call by their own name
}

// NewStory puts one pod's events in order, makes one of those that tell the same, and
// finds the sandboxes in them. It takes the events.
func NewStory(pod string, events []Event, cover Cover) *Story {
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

// Places gives every line that tells the event, in order.
func (s *Story) Places(event int) []Place {
	return append([]Place{s.Events[event].Place}, s.Also[event]...)
}
