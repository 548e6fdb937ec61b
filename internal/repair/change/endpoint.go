package change

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// An Endpoint creates, changes or deletes a WorkloadEndpoint, in etcd.
type Endpoint struct {
	single
	Want      json.RawMessage `json:"want,omitempty"`      // the whole object; nil: delete
	Container string          `json:"container,omitempty"` // the sandbox that an existing endpoint must name
	// Blocks of the addresses of Want: they must have them for the sandbox.
	Blocks []netip.Prefix `json:"blocks,omitempty"`
	// Instead is another endpoint that must name the same sandbox before this one is deleted:
	// the pod is running, and this one was written while its node used another node's name.
	Instead model.Ref `json:"instead,omitzero"`
}

// Key is the name in the JSON of a step.
func (e *Endpoint) Key() string { return "endpoint" }

// Kind is that of endpoints.
func (e *Endpoint) Kind() model.Kind { return model.KindEndpoint }

// Describe says what becomes of it.
func (e *Endpoint) Describe() string {
	switch {
	case e.replaced():
		return "delete, if " + e.Instead.Name + " names the same sandbox"
	case e.Want == nil:
		return "delete, if it still names sandbox " + cmp.Or(e.Container, "none")
	default:
		return "create from the node state"
	}
}

// replaced reports that the pod keeps another endpoint.
func (e *Endpoint) replaced() bool { return e.Instead != model.Ref{} }

// LeastRisk is Safe: proofs decide whether a pod has the endpoint.
func (e *Endpoint) LeastRisk() Risk { return Safe }

// Validate returns an error unless a deletion has a NotInUse proof of the sandbox, or a
// Running proof if the running pod keeps another endpoint; and a creation a Running proof.
func (e *Endpoint) Validate(u Use) error {
	return u.each(func(p *Proof) error {
		switch {
		case e.replaced() && !e.spares(u.On, p.Running):
			return errors.New("it deletes an endpoint of a running pod without naming the one that stays")
		case e.replaced():
			return nil
		case e.Want == nil && (!p.NotInUse.gone(e.Container) || !p.NotInUse.somewhere()):
			return errors.New("it deletes an endpoint without verification that its sandbox is gone")
		case e.Want != nil && (p.Running == nil || !u.Undo && !e.of(u.On, p.Running)):
			return errNotRunning
		default:
			return nil
		}
	})
}

var errNotRunning = errors.New("it writes a record without verification that the pod that receives it is running")

// spares reports that, of the two endpoints of a running pod, the step deletes the one that
// does not name the pod's node.
func (e *Endpoint) spares(on model.Ref, l *RunningPod) bool {
	return e.Want == nil && l != nil && e.Container != "" && l.Container == e.Container && e.Instead.Kind == model.KindEndpoint && e.Instead != on &&
		on.Name != model.EndpointName(l.Node, &model.Pod{Namespace: l.Namespace, Name: l.Pod})
}

// of reports that the endpoint to write is that of the running pod: its name, sandbox, host veth
// and addresses.
func (e *Endpoint) of(on model.Ref, l *RunningPod) bool {
	var is endpointIs
	if json.Unmarshal(e.Want, &is) != nil {
		return false
	}
	ips := addressesOf(is.Spec.IPNetworks)
	return covered(e.Blocks, ips) && on.Name == model.EndpointName(is.Spec.Node, &model.Pod{Namespace: l.Namespace, Name: l.Pod}) && is.Metadata.Namespace == l.Namespace &&
		is.Spec.Pod == l.Pod && is.Spec.ContainerID == l.Container && is.Spec.Interface == l.Device &&
		len(ips) == len(is.Spec.IPNetworks) && l.hasOnly(ips) && !slices.ContainsFunc(is.Spec.IPNetworks, wide)
}

// wide reports that a network of an endpoint is more than one address: Felix would route all of it to the pod.
func wide(network string) bool {
	p, err := netip.ParsePrefix(network)
	return err != nil || !p.IsSingleIP()
}

// NoUndo says that it can be undone.
func (e *Endpoint) NoUndo(string) (why string, undoable bool) { return "", true }

// Undo deletes an endpoint that was created, and creates one that was deleted.
func (e *Endpoint) Undo(w Write, u Undoer) {
	var is endpointIs
	switch {
	case e.replaced():
		u.Refuse(w.Finding, "the pod has its endpoint on the node that runs it; the other would never be deleted")
	case e.Want != nil && len(w.Was) > 0 && string(w.Was) != "null":
		u.Refuse(w.Finding, "the endpoint names the running sandbox and is not changed back")
	case e.Want != nil:
		if json.Unmarshal(e.Want, &is) != nil {
			return
		}
		u.Need(w.Finding, Proof{NotInUse: &NotInUse{IPs: addressesOf(is.Spec.IPNetworks), Containers: []string{is.Spec.ContainerID}}})
		u.Step("undo "+w.Do, w.On, &Endpoint{Container: is.Spec.ContainerID}, w.Finding)
	default:
		if json.Unmarshal(w.Was, &is) != nil {
			u.Refuse(w.Finding, "the journal does not have the former endpoint")
			return
		}
		ns, _, _ := strings.Cut(w.On.Name, "/")
		u.Need(w.Finding, Proof{Running: &RunningPod{Namespace: ns, Pod: is.Spec.Pod, Node: is.Spec.Node, Container: is.Spec.ContainerID, IPs: addressesOf(is.Spec.IPNetworks)}})
		u.Step("undo "+w.Do, w.On, &Endpoint{Want: w.Was}, w.Finding)
	}
}

func addressesOf(networks []string) []netip.Addr {
	var out []netip.Addr
	for _, n := range networks {
		if p, err := netip.ParsePrefix(n); err == nil && !slices.Contains(out, p.Addr()) {
			out = append(out, p.Addr())
		}
	}
	return out
}
