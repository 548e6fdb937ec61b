package timeline

import "time"

// chained is the longest time between the lines that the CNI plugin, the runtime and the
// kubelet write about one failure.
const chained = 2 * time.Second

// adopt sets Event.Sandbox of events whose own line does not name the sandbox, where only one
// sandbox is possible: the only one of the pod's UID, or, for a failed DEL, the only one whose
// stop failed in the same file within chained. An event with a UID is never given a sandbox
// by its time.
func (s *Story) adopt() {
	home := map[string]string{} // sandbox by UID; "?" if the UID had several
	for i := range s.Events {
		if e := &s.Events[i]; e.UID != "" && e.Sandbox != "" && home[e.UID] != e.Sandbox {
			home[e.UID] = map[bool]string{true: e.Sandbox, false: "?"}[home[e.UID] == ""]
		}
	}
	for i := range s.Events {
		e := &s.Events[i]
		if e.Sandbox != "" {
			continue
		}
		if id := home[e.UID]; e.UID != "" && id != "" {
			if id != "?" {
				e.Sandbox = id
			}
			continue
		}
		if e.Kind == DelFailed || e.Kind == EndpointMissing || e.Kind == PodKillFailed {
			e.Sandbox = s.failedStop(i)
		}
	}
}

// failedStop gives the only sandbox whose stop failed within chained of event i in the same
// file, empty if there is none or more than one.
func (s *Story) failedStop(i int) string {
	id := ""
	visit := func(k int) bool { // false: too far from event i, stop
		e := &s.Events[k]
		if e.At.IsZero() {
			return true
		}
		if apart := e.At.Sub(s.Events[i].At).Abs(); apart > chained {
			return false
		}
		if e.Kind == SandboxStopFailed && e.Sandbox != "" && e.Place.File == s.Events[i].Place.File {
			if id != "" && id != e.Sandbox {
				id = "?"
			} else {
				id = e.Sandbox
			}
		}
		return true
	}
	for k := i - 1; k >= 0 && visit(k); k-- {
	}
	for k := i + 1; k < len(s.Events) && visit(k); k++ {
	}
	if id == "?" {
		return ""
	}
	return id
}
