package change

import (
	"cmp"
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
	IPs        []netip.Addr `json:"ips,omitempty"`        // addresses that nothing may use
	Containers []string     `json:"containers,omitempty"` // sandbox IDs
	Except     []string     `json:"except,omitempty"`     // sandboxes that may use IPs: an undo gives the addresses back to them. Must be empty if an address is released
	Nodes      []string     `json:"nodes,omitempty"`      // whose agents must verify; with All: in addition to all known nodes
	All        bool         `json:"all,omitempty"`        // all nodes must verify, also those that are new or were deleted since the plan: the owner's node is not certain
	Calm       bool         `json:"noCalls,omitempty"`    // verify only that no CNI call for Containers is in progress: they may run
	Gone       []PodIs      `json:"gone,omitempty"`       // pods that must be deleted, finished or replaced; see PodIs
	Absent     []model.Ref  `json:"absent,omitempty"`     // nodes, services, VMs that must not exist
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
	for _, against := range []func(*model.Verification) string{d.attached, d.sandboxed, d.onHost} {
		if why := against(w); why != "" {
			return why, false
		}
	}
	return d.calls(w)
}

// attached reports a network namespace of one of the containers, or with one of the addresses.
func (d *NotInUse) attached(w *model.Verification) string {
	for i := range w.Attachments {
		a := &w.Attachments[i]
		if slices.Contains(d.Containers, a.Sandbox) {
			return fmt.Sprintf("the network namespace of sandbox %.8s exists on %s", a.Sandbox, w.Node)
		}
		for _, ip := range d.IPs {
			if a.Has(ip) && !slices.Contains(d.Except, a.Sandbox) {
				return fmt.Sprintf("%s is in use on %s, in %s", ip, w.Node, cmp.Or(short(a.Sandbox), "a network namespace without a sandbox"))
			}
		}
	}
	return ""
}

// sandboxed reports a sandbox that is one of the containers, or has one of the addresses by
// libcni's cache.
func (d *NotInUse) sandboxed(w *model.Verification) string {
	sandboxes := map[string]bool{} // IDs with one of the addresses, Except excluded
	for i := range w.Results {
		if r := &w.Results[i]; d.anyOf(r.IPs).IsValid() {
			sandboxes[r.Container] = !slices.Contains(d.Except, r.Container)
		}
	}
	for i := range w.Sandboxes {
		s := &w.Sandboxes[i]
		if (slices.Contains(d.Containers, s.ID) || sandboxes[s.ID]) && (s.Ready || s.Inode != 0) {
			return fmt.Sprintf("sandbox %s of %s/%s exists on %s", short(s.ID), s.Namespace, s.Pod, w.Node)
		}
	}
	return ""
}

// onHost reports an interface of the node with one of the addresses.
func (d *NotInUse) onHost(w *model.Verification) string {
	for i := range w.Links {
		if ip := d.anyOf(w.Links[i].IPs); ip.IsValid() {
			return fmt.Sprintf("interface %s of %s has %s", w.Links[i].Name, w.Node, ip)
		}
	}
	return ""
}

// anyOf gives the first of the addresses that is among them; invalid if none is.
func (d *NotInUse) anyOf(them []netip.Prefix) netip.Addr {
	for _, ip := range d.IPs {
		if slices.ContainsFunc(them, func(p netip.Prefix) bool { return p.Addr() == ip }) {
			return ip
		}
	}
	return netip.Addr{}
}

// calls reports a CNI call that may use the containers: a call for one of them, or any call
// if its container or ours is not known. Calls for other containers do not matter: Calico
// does not assign to them what is still allocated.
func (d *NotInUse) calls(w *model.Verification) (why string, passing bool) {
	for i := range w.Calls {
		if c := &w.Calls[i]; c.CNI == "" || len(d.Containers) == 0 || slices.Contains(d.Containers, c.CNI) {
			return fmt.Sprintf("a CNI call (%s) is in progress on %s", cmp.Or(c.Command, "unknown"), w.Node), true
		}
	}
	return "", false
}

// Unasked reports that the pod named in the record is on a node whose agent does not verify
// this proof: its next sandbox may be being created there. Empty if not.
func (d *NotInUse) Unasked(o model.Object) string {
	p, err := ReadPod(o)
	if err != nil || !o.There() || p.Finished() || p.Node == "" || d.All || slices.Contains(d.Nodes, p.Node) {
		return ""
	}
	return o.Ref.Name + " is on " + p.Node + ", whose agent is not among those that verify"
}

// covers reports that the proof includes this address and its container (or all nodes), and
// that at least one node must verify it.
func (d *NotInUse) covers(o Ordinal) bool {
	if d == nil || d.Calm || !slices.Contains(d.IPs, o.IP) || !d.somewhere() || o.From == nil {
		return false
	}
	id := model.ContainerOf(o.From.Handle)
	return d.All || id != "" && slices.Contains(d.Containers, id)
}

// somewhere reports that at least one node must verify.
func (d *NotInUse) somewhere() bool { return d != nil && (d.All || len(d.Nodes) > 0) }

// gone reports that the proof includes the container.
func (d *NotInUse) gone(container string) bool {
	return d != nil && slices.Contains(d.Containers, container)
}

func short(id string) string { return fmt.Sprintf("%.8s", id) }
