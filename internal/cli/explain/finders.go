package explain

import (
	"fmt"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// byInterface finds interfaces of nodes, with what is behind them, and of pods.
func byInterface(v *model.View, s model.Sought) (out []hit) {
	for i := range v.Rows(model.Links) {
		if l := v.Link(int32(i)); s.Link(l) {
			out = append(out, ofLink(v, l))
		}
	}
	for i := range v.Rows(model.Attachments) {
		if a := v.Attachment(int32(i)); s.Attachment(a) {
			out = append(out, ofAttachment(v, a))
		}
	}
	return out
}

// bySandbox finds sandboxes and containers, and cached results of sandboxes that are gone.
func bySandbox(v *model.View, name model.Sought) (out []hit) {
	for i := range v.Rows(model.Sandboxes) {
		if s := v.Sandbox(int32(i)); name.Sandbox(s, s.Node) {
			out = append(out, hit{s.Node, fmt.Sprintf("sandbox %.12s, %s, pid %d", s.ID, ready(s.Ready), s.PID), s.Namespace + "/" + s.Pod})
		}
	}
	for i := range v.Rows(model.Containers) {
		if c := v.Container(int32(i)); name.Container(c, c.Node) {
			out = append(out, hit{c.Node, fmt.Sprintf("container %.12s (%s), %s, in sandbox %.12s", c.ID, plain.Line(c.Name), c.State, c.Sandbox), podIn(v, c.Node, c.Sandbox)})
		}
	}
	for node, f := range v.Snapshot().NodeState {
		for i := range f.CNIResults {
			if r := &f.CNIResults[i]; name.CNIResult(r) && v.SandboxNamed(node, r.Container) == nil {
				out = append(out, hit{node, fmt.Sprintf("a cached CNI result of sandbox %.12s, which the runtime does not list", r.Container), ""})
			}
		}
	}
	return out
}

// byPID finds the first processes of sandboxes and containers, and processes that the agent reports.
func byPID(v *model.View, name model.Sought) (out []hit) {
	for i := range v.Rows(model.Sandboxes) {
		if s := v.Sandbox(int32(i)); name.Sandbox(s, s.Node) {
			out = append(out, hit{s.Node, fmt.Sprintf("first process of sandbox %.12s", s.ID), s.Namespace + "/" + s.Pod})
		}
	}
	for i := range v.Rows(model.Containers) {
		if c := v.Container(int32(i)); name.Container(c, c.Node) {
			out = append(out, hit{c.Node, fmt.Sprintf("first process of container %.12s (%s)", c.ID, plain.Line(c.Name)), podIn(v, c.Node, c.Sandbox)})
		}
	}
	for i := range v.Rows(model.Processes) {
		if p := v.Process(int32(i)); name.Process(p, p.Node) {
			out = append(out, hit{p.Node, fmt.Sprintf("process %s, state %s, reported as %s", plain.Line(p.Name), p.State, p.Why), p.Pod})
		}
	}
	return out
}

func ofLink(v *model.View, l *model.Link) hit {
	h := hit{Node: l.Node, What: fmt.Sprintf("interface %s, index %d, %s, %s", plain.Line(l.Name), l.Index, plain.Dash(l.Kind), upOrDown(l.Up))}
	for a := range v.AttachmentsBehind(l.Node, l.Index) {
		b := ofAttachment(v, a)
		h.What, h.Pod = h.What+"; behind it "+b.What, b.Pod
	}
	return h
}

func ofAttachment(v *model.View, a *model.Attachment) hit {
	what := fmt.Sprintf("%s in namespace %d, MAC %s", plain.Dash(plain.Line(a.Device)), a.Inode, plain.Dash(a.MAC))
	for _, p := range a.IPs {
		what += ", " + p.Addr().String()
	}
	if a.Sandbox != "" {
		what += fmt.Sprintf(", sandbox %.12s", a.Sandbox)
	}
	return hit{a.Node, what, podIn(v, a.Node, a.Sandbox)}
}

func podIn(v *model.View, node, sandbox string) string {
	if s := v.SandboxNamed(node, sandbox); s != nil {
		return s.Namespace + "/" + s.Pod
	}
	return ""
}

func ready(yes bool) string {
	if yes {
		return "ready"
	}
	return "not ready"
}

func upOrDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}
