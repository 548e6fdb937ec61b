package change

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A RunningPod proof holds if Kubernetes has the pod on Node, not deleted and not finished,
// and the agent on Node verifies that its sandbox is ready, belongs to this pod and has
// exactly these addresses, and that no CNI call for it is in progress.
type RunningPod struct {
	Namespace string       `json:"namespace"`        // of the pod
	Pod       string       `json:"pod"`              // its name
	UID       string       `json:"uid"`              // of the pod
	Static    string       `json:"static,omitempty"` // UID in its sandbox, if it is a static pod
	Node      string       `json:"node"`             // on which it runs
	Container string       `json:"container"`        // sandbox ID
	IPs       []netip.Addr `json:"ips"`              // that it has
	Device    string       `json:"device,omitempty"` // host veth of the pod
	Among     bool         `json:"-"`                // it may have other addresses too

	// What a change on a node demands beside: see OnNode.Acting.
	Peer int        `json:"-"` // index of the host's end of one of the pod's interfaces; 0: not demanded
	Away int        `json:"-"` // index of a host interface behind which nobody may have At; 0: not demanded
	MAC  string     `json:"-"` // with Away: nobody may have At with this MAC address; empty: with any
	At   netip.Addr `json:"-"` // one of IPs
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
	for _, against := range []func(*model.Verification) string{l.addresses, l.connected, l.away} {
		if why := against(w); why != "" {
			return why, false
		}
	}
	for i := range w.Calls {
		if c := &w.Calls[i]; c.CNI == "" || c.CNI == l.Container {
			return fmt.Sprintf("a CNI call (%s) is in progress on %s", cmp.Or(c.Command, "unknown"), w.Node), true
		}
	}
	return "", false
}

// addresses reports that the sandbox does not have exactly the addresses.
func (l *RunningPod) addresses(w *model.Verification) string {
	for _, ip := range l.IPs {
		if !slices.ContainsFunc(w.Attachments, func(a model.Attachment) bool { return a.Sandbox == l.Container && a.Has(ip) }) {
			return fmt.Sprintf("sandbox %[2]s does not have %[1]s", ip, short(l.Container))
		}
	}
	for i := range w.Attachments {
		if a := &w.Attachments[i]; !l.Among && a.Sandbox == l.Container && slices.ContainsFunc(l.IPs, a.Has) {
			for _, p := range a.IPs {
				if !slices.Contains(l.IPs, p.Addr()) {
					return fmt.Sprintf("sandbox %s also has %s", short(l.Container), p.Addr())
				}
			}
		}
	}
	return ""
}

// connected reports that the interface with index Peer is not the pod's.
func (l *RunningPod) connected(w *model.Verification) string {
	if l.Peer == 0 || slices.ContainsFunc(w.Attachments, func(a model.Attachment) bool { return a.Sandbox == l.Container && a.Peer == l.Peer }) {
		return ""
	}
	return fmt.Sprintf("interface %d of %s is not connected to sandbox %s", l.Peer, w.Node, short(l.Container))
}

// away reports that somebody behind the interface with index Away has the address At, so what
// leads there is right.
func (l *RunningPod) away(w *model.Verification) string {
	if l.Away == 0 {
		return ""
	}
	if !slices.Contains(l.IPs, l.At) {
		return fmt.Sprintf("%s is not an address of sandbox %s", l.At, short(l.Container))
	}
	for i := range w.Attachments {
		if a := &w.Attachments[i]; a.Peer == l.Away && a.Has(l.At) && (l.MAC == "" || strings.EqualFold(a.MAC, l.MAC)) {
			return fmt.Sprintf("sandbox %s has %s behind interface %d of %s", cmp.Or(short(a.Sandbox), "without a name"), l.At, l.Away, w.Node)
		}
	}
	return l.shared(w)
}

// shared reports another sandbox with the address At by libcni's cache alone: one with a network
// stack of its own (gVisor, Kata) shows no address to the node's kernel.
func (l *RunningPod) shared(w *model.Verification) string {
	for i := range w.Results {
		r := &w.Results[i]
		if r.Container == l.Container || !slices.ContainsFunc(r.IPs, func(p netip.Prefix) bool { return p.Addr() == l.At }) {
			continue
		}
		if slices.ContainsFunc(w.Sandboxes, func(s model.Sandbox) bool { return s.ID == r.Container && (s.Ready || s.Inode != 0) }) {
			return fmt.Sprintf("sandbox %s on %s was given %s too", short(r.Container), w.Node, l.At)
		}
	}
	return ""
}

// hasOnly reports that these are the pod's addresses, all of them and at least one: a record with fewer
// would take the others from a running pod.
func (l *RunningPod) hasOnly(ips []netip.Addr) bool {
	foreign := func(ip netip.Addr) bool { return !slices.Contains(l.IPs, ip) }
	missing := func(ip netip.Addr) bool { return !slices.Contains(ips, ip) }
	return len(ips) > 0 && !slices.ContainsFunc(ips, foreign) && !slices.ContainsFunc(l.IPs, missing)
}

// hasAddressIn reports whether an object of the node, NODE/ADDRESS or NODE/ADDRESS/INTERFACE, is of an
// address of the pod.
func (l *RunningPod) hasAddressIn(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) < 2 {
		return false
	}
	ip, err := netip.ParseAddr(parts[1])
	return err == nil && slices.Contains(l.IPs, ip)
}

// receives reports that an address that is recorded goes to this pod: to the handle of its
// sandbox, under its name. An address that is released, or recorded for a tunnel of a node or
// under our temporary handle, goes to no pod.
func (l *RunningPod) receives(o Ordinal) bool {
	switch to := o.To; {
	case to == nil || to.tunnel():
		return true
	case l == nil || !slices.Contains(l.IPs, o.IP):
		return false
	case strings.HasPrefix(to.Handle, model.HoldPrefix):
		return true
	default:
		return model.ContainerOf(to.Handle) == l.Container && to.Secondary["namespace"] == l.Namespace && to.Secondary["pod"] == l.Pod
	}
}

// AgainstPod gives why the pod as read now contradicts the proof; empty if it does not.
func (l *RunningPod) AgainstPod(o model.Object) string {
	p, err := ReadPod(o)
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
