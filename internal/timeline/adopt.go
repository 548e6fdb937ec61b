package timeline

import "time"

// chained is how far apart the lines of one failure stand: the plugin's, the runtime's,
// the kubelet's.
const chained = 2 * time.Second

// adopt gives events a sandbox that their own lines do not name, where it is certain.
func (s *Story) adopt() {
	home := map[string]string{} // by UID; "?" if it had several
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

// failedStop gives the one sandbox whose stop failed in the same file beside an event.
func (s *Story) failedStop(i int) string {
	id := ""
	look := func(k int) bool {
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
	for k := i - 1; k >= 0 && look(k); k-- {
	}
	for k := i + 1; k < len(s.Events) && look(k); k++ {
	}
	if id == "?" {
		return ""
	}
	return id
}
