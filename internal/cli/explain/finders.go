package explain

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/model"
)

// byDevice finds interfaces of nodes, and what is behind them.
func byDevice(v *model.View, name string) (out []hit) {
	for i := range v.Rows(model.Links) {
		if l := v.Link(int32(i)); l.Name == name {
			out = append(out, ofLink(v, l))
		}
	}
	return out
}

// byMAC finds interfaces of nodes and of pods. All host interfaces of Calico have the same address.
func byMAC(v *model.View, mac string) (out []hit) {
	for i := range v.Rows(model.Links) {
		if l := v.Link(int32(i)); strings.EqualFold(l.MAC, mac) {
			out = append(out, ofLink(v, l))
		}
	}
	for i := range v.Rows(model.Attachments) {
		if a := v.Attachment(int32(i)); strings.EqualFold(a.MAC, mac) {
			out = append(out, ofAttachment(v, a))
		}
	}
	return out
}

// bySandbox finds sandboxes and containers, and cached results of sandboxes that are gone.
func bySandbox(v *model.View, id string) (out []hit) {
	for i := range v.Rows(model.Sandboxes) {
		if s := v.Sandbox(int32(i)); strings.HasPrefix(s.ID, id) {
			out = append(out, hit{s.Node, fmt.Sprintf("sandbox %.12s, %s, pid %d", s.ID, ready(s.Ready), s.PID), s.Namespace + "/" + s.Pod})
		}
	}
	for i := range v.Rows(model.Containers) {
		if c := v.Container(int32(i)); strings.HasPrefix(c.ID, id) {
			out = append(out, hit{c.Node, fmt.Sprintf("container %.12s (%s), %s, in sandbox %.12s", c.ID, term.Line(c.Name), c.State, c.Sandbox), podIn(v, c.Node, c.Sandbox)})
		}
	}
	for node, f := range v.Snapshot().NodeState {
		for i := range f.CNIResults {
			if r := &f.CNIResults[i]; strings.HasPrefix(r.Container, id) && v.SandboxNamed(node, r.Container) == nil {
				out = append(out, hit{node, fmt.Sprintf("a cached CNI result of sandbox %.12s, which the runtime does not list", r.Container), ""})
			}
		}
	}
	return out
}

// byPID finds the first processes of sandboxes and containers, and processes that the agent reports.
func byPID(v *model.View, text string) (out []hit) {
	node, pid, err := parsePID(text)
	if err != nil {
		return nil
	}
	for i := range v.Rows(model.Sandboxes) {
		if s := v.Sandbox(int32(i)); s.PID == pid && (node == "" || s.Node == node) {
			out = append(out, hit{s.Node, fmt.Sprintf("first process of sandbox %.12s", s.ID), s.Namespace + "/" + s.Pod})
		}
	}
	for i := range v.Rows(model.Containers) {
		if c := v.Container(int32(i)); c.PID == pid && (node == "" || c.Node == node) {
			out = append(out, hit{c.Node, fmt.Sprintf("first process of container %.12s (%s)", c.ID, term.Line(c.Name)), podIn(v, c.Node, c.Sandbox)})
		}
	}
	for i := range v.Rows(model.Processes) {
		if p := v.Process(int32(i)); p.PID == pid && (node == "" || p.Node == node) {
			out = append(out, hit{p.Node, fmt.Sprintf("process %s, state %s, reported as %s", term.Line(p.Name), p.State, p.Why), p.Pod})
		}
	}
	return out
}

func ofLink(v *model.View, l *model.Link) hit {
	h := hit{Node: l.Node, What: fmt.Sprintf("interface %s, index %d, %s, %s", term.Line(l.Name), l.Index, term.Dash(l.Kind), upOrDown(l.Up))}
	for a := range v.AttachmentsBehind(l.Node, l.Index) {
		b := ofAttachment(v, a)
		h.What, h.Pod = h.What+"; behind it "+b.What, b.Pod
	}
	return h
}

func ofAttachment(v *model.View, a *model.Attachment) hit {
	what := fmt.Sprintf("%s in namespace %d, MAC %s", term.Dash(term.Line(a.Device)), a.Inode, term.Dash(a.MAC))
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

// parsePID reads [NODE/]PID.
func parsePID(text string) (node string, pid int, err error) {
	node, number, on := strings.Cut(text, "/")
	if !on {
		node, number = "", text
	}
	if pid, err = strconv.Atoi(number); err != nil || pid < 1 {
		return "", 0, fmt.Errorf("%.40q is not [NODE/]PID", text)
	}
	return node, pid, nil
}

func validPID(text string) error {
	_, _, err := parsePID(text)
	return err
}

func validMAC(text string) error {
	_, err := net.ParseMAC(text)
	return err
}

func validID(text string) error {
	if len(text) < 8 || strings.Trim(text, "0123456789abcdef") != "" {
		return errors.New("at least 8 hexadecimal digits of its ID")
	}
	return nil
}
