package timeline

import (
	"cmp"
	"fmt"
	"slices"
)

// manyStarts is how many starts within minutes make a kubelet that does not get to work.
const manyStarts = 5

// restarting finds a kubelet that restarts repeatedly on the pod's node after the pod's deletion
// was requested, while nothing shows that the pod is being stopped. It does not find out why the
// kubelet restarts: often the previous process hangs on a mount and keeps its port.
func (s *Story) restarting() []Verdict {
	asked := slices.IndexFunc(s.Events, func(e Event) bool { return e.Kind == PodTerminating })
	done := slices.ContainsFunc(s.Events, func(e Event) bool {
		return e.Kind == PodKilled || e.Kind == SandboxStopped || e.Kind == DelBegin
	})
	if asked < 0 || done {
		return nil
	}
	v := Verdict{Cause: TeardownBlocked, Certainty: Likely, Lines: s.lines(asked)}
	first, last := -1, asked
	for i, e := range s.Events {
		if e.Kind != KubeletStarted || e.Count < manyStarts {
			continue
		}
		if first < 0 {
			first = i
		}
		last = max(last, i)
		v.Count += e.Count
		v.Lines = append(v.Lines, s.lines(i)...)
	}
	if first < 0 {
		return nil
	}
	begin := max(asked, first)
	v.At, v.Until, v.Node = s.Events[begin].At, s.Events[last].At, cmp.Or(s.Events[begin].Node, s.Events[first].Node)
	v.Says = fmt.Sprintf("since %s by the kubelet, which restarts repeatedly since %s and does not stop the pod", clock(v.At), clock(s.Events[first].At))
	if end := s.endsAfter(last); end >= 0 {
		v.Until = s.Events[end].At
		v.Says += ", until " + clock(v.Until)
	}
	if !s.namesMount() {
		v.NotShown = []string{"what blocks the kubelet: no line names a mount or a process"}
	}
	return []Verdict{v}
}
