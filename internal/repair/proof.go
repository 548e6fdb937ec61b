package repair

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A Proof is what must hold in the world, live, before anything is written for a finding:
// one that takes away needs that nothing uses it, one that gives needs that its owner lives.
type Proof struct {
	NotInUse *NotInUse   `json:"dead,omitempty"`
	Running  *RunningPod `json:"lives,omitempty"`
}

// A NotInUse proof is that nobody uses addresses or containers. Every one of the nodes must
// say so; one that is silent proves nothing.
type NotInUse struct {
	IPs        []netip.Addr `json:"ips,omitempty"`
	Containers []string     `json:"containers,omitempty"`
	Except     []string     `json:"except,omitempty"` // containers that may use the addresses: they get them back
	Nodes      []string     `json:"nodes,omitempty"`
	All        bool         `json:"all,omitempty"`    // every node: it is in doubt whose it was
	Calm       bool         `json:"calm,omitempty"`   // only that no CNI call for the containers is under way: they may live
	Gone       []PodIs      `json:"gone,omitempty"`   // pods that must not be there as those that they were
	Absent     []model.Ref  `json:"absent,omitempty"` // nodes, services, machines that must not be there
}

// A PodIs is a pod that a proof speaks of.
type PodIs struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Not are addresses that a living pod of that name must not claim.
	Not []netip.Addr `json:"not,omitempty"`
}

// A RunningPod proof is that a pod's sandbox runs and has exactly these addresses.
type RunningPod struct {
	Namespace string       `json:"namespace"`
	Pod       string       `json:"pod"`
	UID       string       `json:"uid"`
	Static    string       `json:"static,omitempty"` // the UID that its sandbox carries, if it is a static pod's
	Node      string       `json:"node"`
	Container string       `json:"container"`
	IPs       []netip.Addr `json:"ips"`
	Device    string       `json:"device,omitempty"` // of the host, whose peer is in the pod
}

// Against tells why a witness does not prove that nobody uses it; empty if it does. Passing
// means that it may in a moment: a CNI call is under way, which has an end. Of what
// the node said only what concerns this proof is judged: it may have been asked more.
func (d *NotInUse) Against(w *model.Verification) (why string, passing bool) {
	if !w.Complete {
		return w.Node + " could not see all of itself: " + strings.Join(w.Missing, "; "), false
	}
	if d.Calm {
		return d.calls(w)
	}
	sandboxes := map[string]bool{} // that have one of the addresses
	for i := range w.Attachments {
		a := &w.Attachments[i]
		if slices.Contains(d.Containers, a.Sandbox) {
			return fmt.Sprintf("the network of sandbox %.8s is there on %s", a.Sandbox, w.Node), false
		}
		for _, ip := range d.IPs {
			if a.Has(ip) && !slices.Contains(d.Except, a.Sandbox) {
				return fmt.Sprintf("%s is in use on %s, in %s", ip, w.Node, orText(short(a.Sandbox), "a namespace of nobody's")), false
			}
		}
	}
	for i := range w.Results {
		for _, ip := range d.IPs {
			if slices.ContainsFunc(w.Results[i].IPs, func(p netip.Prefix) bool { return p.Addr() == ip }) {
				sandboxes[w.Results[i].Container] = !slices.Contains(d.Except, w.Results[i].Container)
			}
		}
	}
	for i := range w.Sandboxes {
		s := &w.Sandboxes[i]
		if (slices.Contains(d.Containers, s.ID) || sandboxes[s.ID]) && (s.Ready || s.Inode != 0) {
			return fmt.Sprintf("sandbox %s of %s/%s is there on %s", short(s.ID), s.Namespace, s.Pod, w.Node), false
		}
	}
	for i := range w.Links {
		for _, ip := range d.IPs {
			if slices.ContainsFunc(w.Links[i].IPs, func(p netip.Prefix) bool { return p.Addr() == ip }) {
				return fmt.Sprintf("device %s of %s has %s", w.Links[i].Name, w.Node, ip), false
			}
		}
	}
	return d.calls(w)
}

// calls tells that a CNI call may be at work on it. Whose sandbox it is decides: another's
// call cannot take what is still recorded.
func (d *NotInUse) calls(w *model.Verification) (why string, passing bool) {
	for i := range w.Calls {
		if c := &w.Calls[i]; c.CNI == "" || len(d.Containers) == 0 || slices.Contains(d.Containers, c.CNI) {
			return fmt.Sprintf("a CNI call (%s) is under way on %s", orText(c.Command, "unknown"), w.Node), true
		}
	}
	return "", false
}

// Unasked tells that a pod of the name in the record lives on a node that is not asked: its
// next sandbox may be in the making there.
func (d *NotInUse) Unasked(o model.Object) string {
	p, err := ReadPod(o)
	if err != nil || !o.There() || p.Finished() || p.Node == "" || d.All || slices.Contains(d.Nodes, p.Node) {
		return ""
	}
	return o.Ref.Name + " is on " + p.Node + ", which was not asked"
}

// Against tells why a witness does not prove that the sandbox runs with these addresses.
func (l *RunningPod) Against(w *model.Verification) (why string, passing bool) {
	if !w.Complete {
		return w.Node + " could not see all of itself: " + strings.Join(w.Missing, "; "), false
	}
	i := slices.IndexFunc(w.Sandboxes, func(s model.Sandbox) bool { return s.ID == l.Container })
	if i < 0 || !w.Sandboxes[i].Ready {
		return fmt.Sprintf("sandbox %s does not run on %s", short(l.Container), w.Node), false
	}
	if s := &w.Sandboxes[i]; s.Namespace != l.Namespace || s.Pod != l.Pod || l.UID != "" && s.UID != l.UID && s.UID != l.Static {
		return fmt.Sprintf("sandbox %s is another pod's", short(l.Container)), false
	}
	for _, ip := range l.IPs {
		if !slices.ContainsFunc(w.Attachments, func(a model.Attachment) bool { return a.Sandbox == l.Container && a.Has(ip) }) {
			return fmt.Sprintf("%s is not inside sandbox %s", ip, short(l.Container)), false
		}
	}
	for i := range w.Attachments {
		if a := &w.Attachments[i]; a.Sandbox == l.Container && slices.ContainsFunc(l.IPs, a.Has) {
			for _, p := range a.IPs {
				if !slices.Contains(l.IPs, p.Addr()) {
					return fmt.Sprintf("sandbox %s has %s as well", short(l.Container), p.Addr()), false
				}
			}
		}
	}
	for i := range w.Calls {
		if c := &w.Calls[i]; c.CNI == "" || c.CNI == l.Container {
			return fmt.Sprintf("a CNI call (%s) is under way on %s", orText(c.Command, "unknown"), w.Node), true
		}
	}
	return "", false
}

// AgainstPod tells why a pod as it is now is not the one that lives.
func (l *RunningPod) AgainstPod(o model.Object) string {
	p, err := ReadPod(o)
	switch {
	case err != nil:
		return err.Error()
	case !o.There():
		return "the pod is gone"
	case l.UID != "" && o.UID != l.UID:
		return "another pod has its name now"
	case p.Deleted || p.Finished():
		return "the pod ends"
	case p.HostNetwork || p.Node != l.Node:
		return "the pod is not on " + l.Node
	default:
		return ""
	}
}

// Against tells why a pod as it is now may still use what is to be taken away.
func (g *PodIs) Against(o model.Object) string {
	p, err := ReadPod(o)
	name := g.Namespace + "/" + g.Name
	switch {
	case err != nil:
		return err.Error()
	case !o.There() || p.Finished():
		return ""
	case len(claims(&p, g.Not)) > 0:
		return fmt.Sprintf("%s says that %s is its own", name, claims(&p, g.Not)[0])
	case g.UID != "" && o.UID == g.UID:
		return name + " lives"
	case g.UID == "" && len(g.Not) == 0:
		return name + " is there"
	default:
		return ""
	}
}

func short(id string) string { return fmt.Sprintf("%.8s", id) }

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
