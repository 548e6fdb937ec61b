package explain

import (
	"fmt"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// byVolume finds who mounts a volume, by a part of its source or by its server, and whether it
// answers there.
func byVolume(v *model.View, s model.Sought) (out []hit) {
	for i := range v.Rows(model.Mounts) {
		m := v.Mount(int32(i))
		if !s.Mount(m) {
			continue
		}
		what := fmt.Sprintf("%s %s on %s, %s", plain.Line(m.Type), plain.Line(m.Source), plain.Line(m.Target), answers(m.Silent))
		if m.Dead != "" {
			what += ", left of " + plain.Line(m.Dead)
		}
		for _, h := range m.HeldBy {
			what += fmt.Sprintf(", held by process %d (%s)", h.PID, plain.Line(h.Name))
		}
		if len(m.Pods) == 0 {
			out = append(out, hit{m.Node, what, ""})
		}
		for _, uid := range m.Pods {
			out = append(out, hit{m.Node, what, podWith(v, m.Node, uid)})
		}
	}
	return out
}

func answers(silent bool) string {
	if silent {
		return "DOES NOT ANSWER"
	}
	return "answers"
}

// podWith names the pod with a UID on a node; the UID alone if the runtime does not list it.
func podWith(v *model.View, node, uid string) string {
	for i := range v.Snapshot().NodeState[node].Sandboxes {
		if s := &v.Snapshot().NodeState[node].Sandboxes[i]; s.UID == uid {
			return s.Namespace + "/" + s.Pod
		}
	}
	return "uid " + uid
}
