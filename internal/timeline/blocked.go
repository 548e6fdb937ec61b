package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// fewKills is how many failed kills of a container are needed for a verdict: many containers
// ignore the first signal.
const fewKills = 3

// blocked finds teardowns that the runtime, a mount or a missing namespace blocks. One strong
// event (see blocker) is enough; weak ones count only if there are fewKills of them and nothing
// shows the end of the sandbox later. Without any, a kubelet that restarts repeatedly may be
// the cause (restarting).
func blocked(s *Story, _ []*instance) []Verdict {
	b := s.blockers()
	if len(b.by) == 0 {
		if v := s.restarting(); v != nil {
			return v
		}
		if b.signals < fewKills || s.endsAfter(b.last) >= 0 {
			return nil
		}
		b.by = []string{"a container that keeps running after its kill signals"}
	}
	v := Verdict{
		Cause: TeardownBlocked, Certainty: Proven, Node: s.Events[b.begin].Node, At: s.Events[b.begin].At, Until: s.Events[b.last].At,
		Count: b.count + b.signals, Error: b.note, Lines: s.lines(b.events...),
		Says: fmt.Sprintf("since %s by %s", clock(s.Events[b.begin].At), and(b.by)),
	}
	if b.count == 0 || len(b.by) == 1 && strings.HasPrefix(b.by[0], "a command") {
		v.Certainty = Likely
	}
	if end := s.endsAfter(b.last); end >= 0 {
		v.Until = s.Events[end].At
		v.Says += ", until " + clock(v.Until)
	}
	if !s.namesMount() {
		v.NotShown = append(v.NotShown, "what the runtime waits for: no line names a mount or a process")
	}
	return []Verdict{v}
}

// blockers sums up the events that may show why a teardown is blocked.
type blockers struct {
	events      []int    // their numbers
	begin, last int      // the first and the last of them, those with a time preferred; -1 if there is none
	by          []string // what the strong ones name, each once
	note        string   // the first strong one's
	count       int      // of strong ones
	signals     int      // of weak ones
}

func (s *Story) blockers() blockers {
	b := blockers{begin: -1, last: -1}
	for i := range s.Events {
		e := &s.Events[i]
		what, strong := blocker(e)
		if what == "" {
			continue
		}
		if strong {
			b.strong(e, what)
		} else {
			b.signals += max(1, e.Count)
		}
		b.events = append(b.events, i)
		if b.begin < 0 || s.Events[b.begin].At.IsZero() && !e.At.IsZero() {
			b.begin = i
		}
		if b.last < 0 || !e.At.IsZero() {
			b.last = i
		}
	}
	return b
}

func (b *blockers) strong(e *Event, what string) {
	b.count += max(1, e.Count)
	if !slices.Contains(b.by, what) {
		b.by = append(b.by, what)
	}
	b.note = cmp.Or(b.note, e.Note)
}

// namesMount reports whether an event of the story names a mount that does not answer or is
// in use.
func (s *Story) namesMount() bool {
	return slices.ContainsFunc(s.Events, func(e Event) bool { return e.Kind == MountTimeout || e.Kind == MountBusy })
}

// blocker gives what blocks the teardown according to an event. strong means that the event
// alone is enough for a verdict.
func blocker(e *Event) (what string, strong bool) {
	if e.Pod == "" {
		return "", false // concerns the whole node: may be unrelated to this pod
	}
	late := inTime.MatchString(e.Note) && !ofPlugin(e.Note)
	switch e.Kind {
	case RuntimeTimeout:
		return "the runtime, which does not answer in time", true
	case ContainerKillFailed:
		return "a container that does not stop in time", late
	case PodKillFailed, SandboxStopFailed, SandboxRemoveFailed:
		if late {
			return "a container that does not stop in time", true
		}
	case ExecFailed:
		if strings.Contains(e.Note, "/ns/") && strings.Contains(e.Note, "no such file") {
			return "a command that cannot enter a namespace: " + namespace(e.Note) + " is gone", true
		}
	case MountBusy:
		return "a mount in use elsewhere: " + orSome(e.Object), true
	default:
	}
	return "", false
}

// endsAfter gives the first event after last that shows that the teardown finished, or -1.
func (s *Story) endsAfter(last int) int {
	for i := last + 1; i < len(s.Events); i++ {
		switch s.Events[i].Kind {
		case SandboxStopped, SandboxRemoved, PodGone:
			return i
		default:
		}
	}
	return -1
}

// namespace finds the path of a namespace in an error.
func namespace(note string) string {
	i := strings.Index(note, "/proc/")
	if i < 0 {
		return "its namespace"
	}
	path := note[i:]
	if end := strings.IndexAny(path, "\\\"' :"); end > 0 {
		path = path[:end]
	}
	return path
}

func orSome(path string) string {
	if path == "" {
		return "no line names it"
	}
	return path
}
