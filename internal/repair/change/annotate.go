package change

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// An Annotate sets Calico's three annotations of a pod.
type Annotate struct {
	single
	UID       string         `json:"uid"`
	IPs       []netip.Prefix `json:"ips"`
	Container string         `json:"container"`
	From      string         `json:"from,omitempty"`   // the container that the annotation must name now
	Blocks    []netip.Prefix `json:"blocks,omitempty"` // of the addresses: they must have them for the sandbox
	Empty     bool           `json:"empty,omitempty"`  // clear the addresses, as a DEL does: the sandbox that the plan wrote is gone
}

// Key is the name in the JSON of a step.
func (a *Annotate) Key() string { return "annotate" }

// Kind is that of pods.
func (a *Annotate) Kind() model.Kind { return model.KindPod }

// Describe names the addresses and the sandbox.
func (a *Annotate) Describe() string {
	_, all := addressText(a.IPs)
	return "annotate " + cmp.Or(all, "no address") + ", sandbox " + a.Container
}

// LeastRisk is Safe: proofs decide whether the pod has the sandbox.
func (a *Annotate) LeastRisk() Risk { return Safe }

// Validate returns an error unless an annotation is written with a Running proof and cleared
// with a NotInUse proof of its sandbox.
func (a *Annotate) Validate(u Use) error {
	return u.each(func(p *Proof) error {
		switch {
		case !a.Empty && (p.Running == nil || !a.of(u.On, p.Running)):
			return errNotRunning
		case a.Empty && (len(a.IPs) > 0 || !p.NotInUse.gone(a.Container) || !p.NotInUse.somewhere()):
			return errors.New("it clears an annotation without verification that its sandbox is gone")
		default:
			return nil
		}
	})
}

// of reports that the annotations are those of the running pod, with all its addresses.
func (a *Annotate) of(on model.Ref, l *RunningPod) bool {
	if slices.ContainsFunc(a.IPs, func(p netip.Prefix) bool { return !p.IsSingleIP() }) {
		return false
	}
	return covered(a.Blocks, a.addresses()) && on.Name == l.Namespace+"/"+l.Pod && a.UID == l.UID && a.Container == l.Container && l.hasOnly(a.addresses())
}

func (a *Annotate) addresses() []netip.Addr {
	var out []netip.Addr
	for _, p := range a.IPs {
		out = append(out, p.Addr())
	}
	return out
}

// Reads names the blocks of the addresses.
func (a *Annotate) Reads(model.Ref, model.Object) ([]model.Ref, error) {
	return blockRefs(a.Blocks), nil
}

// NoUndo says that it can be undone.
func (a *Annotate) NoUndo(string) (why string, undoable bool) { return "", true }

// Undo clears the annotation that was written, if its sandbox is gone since. The verification
// fails if the sandbox is running.
func (a *Annotate) Undo(w Write, u Undoer) {
	unused := &NotInUse{Containers: []string{a.Container}, IPs: a.addresses()}
	u.Need(w.Finding, Proof{NotInUse: unused})
	u.Step("undo "+w.Do, w.On, &Annotate{UID: a.UID, Container: a.Container, From: a.Container, Empty: true}, w.Finding)
}

// Edit sets the annotations that Calico's CNI plugin sets after an ADD.
func (a *Annotate) Edit(sc Scene) (Edited, error) {
	p, err := ReadPod(sc.Live)
	if err != nil {
		return Edited{}, err
	}
	first, all := addressText(a.IPs)
	if err := a.compare(sc, &p, first, all); err != nil {
		return Edited{}, err
	}
	if ip, err := unrecorded(&sc, a.Blocks, a.addresses(), a.Container); err != nil || ip.IsValid() {
		return Edited{}, errors.Join(err, moved("IPAM does not have %s for the sandbox", ip))
	}
	was := map[string]string{"podIP": p.PodIP, "podIPs": p.PodIPs, "containerID": p.ContainerID}
	p.PodIP, p.PodIPs, p.ContainerID, p.Annotated = first, all, a.Container, true
	o := sc.Live
	if o.Body, err = json.Marshal(p); err != nil {
		return Edited{}, fmt.Errorf("write %s: %w", o.Ref, err)
	}
	return sc.edited(o, was, map[string]string{"podIP": first, "podIPs": all, "containerID": a.Container})
}

// compare compares the pod with what the plan saw; ErrAlready if nothing is to be written.
func (a *Annotate) compare(sc Scene, p *model.PodBody, first, all string) error {
	switch {
	case !sc.Live.There() || sc.Live.UID != a.UID:
		return moved("the pod is gone")
	case p.Deleted || p.Finished() || p.HostNetwork:
		return moved("the pod is being deleted or has finished, or uses the host network")
	case p.ContainerID == a.Container && p.PodIP == first && p.PodIPs == all:
		return ErrAlready
	case p.ContainerID != a.From && p.ContainerID != "" && p.ContainerID != a.Container:
		return moved("the annotation names sandbox %.8s now", p.ContainerID)
	case a.Empty && p.ContainerID != a.Container:
		return ErrAlready // another writer replaced the annotation that the plan wrote
	default:
		return nil
	}
}

// addressText formats addresses as Calico does in annotations.
func addressText(ips []netip.Prefix) (first, all string) {
	var texts []string
	for _, ip := range ips {
		texts = append(texts, ip.String())
	}
	if len(texts) > 0 {
		first = texts[0]
	}
	return first, strings.Join(texts, ",")
}
