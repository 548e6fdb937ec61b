package repair

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A Proof is what must be verified live before each write for a finding. A repair that
// releases or deletes needs NotInUse; a repair that records or publishes needs Running. Both
// nil means that the repair needs no verification; Valid rejects that where a change needs
// one.
type Proof struct {
	NotInUse *NotInUse   `json:"notInUse,omitempty"`
	Running  *RunningPod `json:"running,omitempty"`
}

// A NotInUse proof holds if the agent on every node of Nodes (or on all nodes) verifies that
// no pod, sandbox, interface or CNI call uses the addresses or containers, and Kubernetes
// has none of Gone and Absent. A node that does not answer, or answers incompletely, proves
// nothing.
type NotInUse struct {
	IPs        []netip.Addr `json:"ips,omitempty"`
	Containers []string     `json:"containers,omitempty"` // sandbox IDs
	Except     []string     `json:"except,omitempty"`     // sandboxes that may use IPs: an undo gives the addresses back to them. Must be empty if an address is released
	Nodes      []string     `json:"nodes,omitempty"`      // whose agents must verify; with All: in addition to all known nodes
	All        bool         `json:"all,omitempty"`        // all nodes must verify, also those that are new or were deleted since the plan: the owner's node is not certain
	Calm       bool         `json:"noCalls,omitempty"`    // verify only that no CNI call for Containers is in progress: they may run
	Gone       []PodIs      `json:"gone,omitempty"`       // pods that must be deleted, finished or replaced; see PodIs
	Absent     []model.Ref  `json:"absent,omitempty"`     // nodes, services, VMs that must not exist
}

// A PodIs is a condition on the pod of a name. It holds if there is no such pod or it has
// finished. Else the pod must not have an address of Not in status or annotation, must not
// have UID if that is set, and must not exist if neither is set.
type PodIs struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	// Not are addresses that a pod of that name must not have.
	Not []netip.Addr `json:"not,omitempty"`
}

// A RunningPod proof holds if Kubernetes has the pod on Node, not deleted and not finished,
// and the agent on Node verifies that its sandbox is ready, belongs to this pod and has
// exactly these addresses, and that no CNI call for it is in progress.
type RunningPod struct {
	Namespace string       `json:"namespace"`
	Pod       string       `json:"pod"`
	UID       string       `json:"uid"`
	Static    string       `json:"static,omitempty"` // UID in its sandbox, if it is a static pod
	Node      string       `json:"node"`
	Container string       `json:"container"` // sandbox ID
	IPs       []netip.Addr `json:"ips"`
	Device    string       `json:"device,omitempty"` // host veth of the pod
}

// Against gives why a verification by one node contradicts the proof; empty if it does not.
// Passing means that it may hold soon: only a CNI call is in progress. Only what concerns
// this proof is considered: the verification may cover more.
func (d *NotInUse) Against(w *model.Verification) (why string, passing bool) {
	if !w.Complete {
		return "the agent on " + w.Node + " could not read everything: " + strings.Join(w.Missing, "; "), false
	}
	if d.Calm {
		return d.calls(w)
	}
	sandboxes := map[string]bool{} // IDs with one of the addresses by libcni's cache, Except excluded
	for i := range w.Attachments {
		a := &w.Attachments[i]
		if slices.Contains(d.Containers, a.Sandbox) {
			return fmt.Sprintf("the network namespace of sandbox %.8s exists on %s", a.Sandbox, w.Node), false
		}
		for _, ip := range d.IPs {
			if a.Has(ip) && !slices.Contains(d.Except, a.Sandbox) {
				return fmt.Sprintf("%s is in use on %s, in %s", ip, w.Node, orText(short(a.Sandbox), "a network namespace without a sandbox")), false
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
			return fmt.Sprintf("sandbox %s of %s/%s exists on %s", short(s.ID), s.Namespace, s.Pod, w.Node), false
		}
	}
	for i := range w.Links {
		for _, ip := range d.IPs {
			if slices.ContainsFunc(w.Links[i].IPs, func(p netip.Prefix) bool { return p.Addr() == ip }) {
				return fmt.Sprintf("interface %s of %s has %s", w.Links[i].Name, w.Node, ip), false
			}
		}
	}
	return d.calls(w)
}

// calls reports a CNI call that may use the containers: a call for one of them, or any call
// if its container or ours is not known. Calls for other containers do not matter: Calico
// does not assign to them what is still allocated.
func (d *NotInUse) calls(w *model.Verification) (why string, passing bool) {
	for i := range w.Calls {
		if c := &w.Calls[i]; c.CNI == "" || len(d.Containers) == 0 || slices.Contains(d.Containers, c.CNI) {
			return fmt.Sprintf("a CNI call (%s) is in progress on %s", orText(c.Command, "unknown"), w.Node), true
		}
	}
	return "", false
}

// Unasked reports that the pod named in the record is on a node whose agent does not verify
// this proof: its next sandbox may be being created there. Empty if not.
func (d *NotInUse) Unasked(o model.Object) string {
	p, err := readPod(o)
	if err != nil || !o.There() || p.Finished() || p.Node == "" || d.All || slices.Contains(d.Nodes, p.Node) {
		return ""
	}
	return o.Ref.Name + " is on " + p.Node + ", whose agent is not among those that verify"
}

// Against gives why a verification by the node contradicts the proof; see NotInUse.Against.
func (l *RunningPod) Against(w *model.Verification) (why string, passing bool) {
	if !w.Complete {
		return "the agent on " + w.Node + " could not read everything: " + strings.Join(w.Missing, "; "), false
	}
	i := slices.IndexFunc(w.Sandboxes, func(s model.Sandbox) bool { return s.ID == l.Container })
	if i < 0 || !w.Sandboxes[i].Ready {
		return fmt.Sprintf("sandbox %s is not running on %s", short(l.Container), w.Node), false
	}
	if s := &w.Sandboxes[i]; s.Namespace != l.Namespace || s.Pod != l.Pod || l.UID != "" && s.UID != l.UID && s.UID != l.Static {
		return fmt.Sprintf("sandbox %s belongs to another pod", short(l.Container)), false
	}
	for _, ip := range l.IPs {
		if !slices.ContainsFunc(w.Attachments, func(a model.Attachment) bool { return a.Sandbox == l.Container && a.Has(ip) }) {
			return fmt.Sprintf("sandbox %[2]s does not have %[1]s", ip, short(l.Container)), false
		}
	}
	for i := range w.Attachments {
		if a := &w.Attachments[i]; a.Sandbox == l.Container && slices.ContainsFunc(l.IPs, a.Has) {
			for _, p := range a.IPs {
				if !slices.Contains(l.IPs, p.Addr()) {
					return fmt.Sprintf("sandbox %s also has %s", short(l.Container), p.Addr()), false
				}
			}
		}
	}
	for i := range w.Calls {
		if c := &w.Calls[i]; c.CNI == "" || c.CNI == l.Container {
			return fmt.Sprintf("a CNI call (%s) is in progress on %s", orText(c.Command, "unknown"), w.Node), true
		}
	}
	return "", false
}

// AgainstPod gives why the pod as read now contradicts the proof; empty if it does not.
func (l *RunningPod) AgainstPod(o model.Object) string {
	p, err := readPod(o)
	switch {
	case err != nil:
		return err.Error()
	case !o.There():
		return "the pod is gone"
	case l.UID != "" && o.UID != l.UID:
		return "another pod now has its name"
	case p.Deleted || p.Finished():
		return "the pod is being deleted or has finished"
	case p.HostNetwork || p.Node != l.Node:
		return "the pod is not on " + l.Node
	default:
		return ""
	}
}

// Against gives why the pod as read now contradicts the condition; empty if it does not.
func (g *PodIs) Against(o model.Object) string {
	p, err := readPod(o)
	name := g.Namespace + "/" + g.Name
	switch {
	case err != nil:
		return err.Error()
	case !o.There() || p.Finished():
		return ""
	case len(claims(&p, g.Not)) > 0:
		return fmt.Sprintf("%s has %s in its status or annotation", name, claims(&p, g.Not)[0])
	case g.UID != "" && o.UID == g.UID:
		return name + " exists with the same UID"
	case g.UID == "" && len(g.Not) == 0:
		return name + " exists"
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
