package change

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// An Evict evicts a pod, within its PodDisruptionBudgets.
type Evict struct {
	single
	UID string `json:"uid"`
	// Keeps are all duplicate addresses of the pod. IPAM must already have them for the pods
	// that keep them: the DEL of the evicted pod would else release them.
	Keeps []Keep `json:"keeps"`
	// Has is the pod with its duplicate addresses. It is evicted only if this is still verified.
	Has RunningPod `json:"has"`
}

// A Keep is an address and the handle that must have it.
type Keep struct {
	IP     netip.Addr   `json:"ip"`
	Block  netip.Prefix `json:"block"`
	Handle string       `json:"handle"`
}

func (k *Keep) block() model.Ref { return model.Ref{Kind: model.KindBlock, Name: k.Block.String()} }

// Key is the name in the JSON of a step.
func (e *Evict) Key() string { return "evict" }

// Kind is that of pods.
func (e *Evict) Kind() model.Kind { return model.KindPod }

// Describe says what comes first.
func (e *Evict) Describe() string {
	return "evict, after IPAM has the address for the pod that keeps it"
}

// LeastRisk is Destructive: the pod restarts.
func (e *Evict) LeastRisk() Risk { return Destructive }

// Validate returns an error unless the eviction names the pod, its sandbox, and for every
// address the handle that keeps it.
func (e *Evict) Validate(u Use) error {
	bad := func(k Keep) bool { return k.Handle == "" || !k.IP.IsValid() }
	if e.UID == "" || len(e.Keeps) == 0 || e.Has.UID != e.UID || e.Has.Container == "" || slices.ContainsFunc(e.Keeps, bad) {
		return errors.New("it evicts a pod without naming the pod that keeps the address")
	}
	for _, k := range e.Keeps {
		to := model.ContainerOf(k.Handle) // none: of a virtual machine
		if to == e.Has.Container || !slices.Contains(e.Has.IPs, k.IP) || to != "" && !u.runs(to, k.IP) {
			return fmt.Errorf("it evicts a pod for %s, which the pod does not have, or the handle that keeps it is not of a pod that is verified to run with it", k.IP)
		}
	}
	return u.each(unproven)
}

// Merge makes one eviction, after all duplicate addresses of the pod are recorded for others.
func (e *Evict) Merge(with Change) (Change, bool) {
	more, ok := with.(*Evict)
	if !ok || e.UID != more.UID || e.Has.Container != more.Has.Container {
		return nil, false
	}
	e.Keeps = append(e.Keeps, more.Keeps...)
	return e, true
}

// Undo refuses.
func (e *Evict) Undo(w Write, u Undoer) { u.Refuse(w.Finding, w.On.Name+noPodUndo) }

const noPodUndo = " was evicted or restarted, which cannot be undone"

// Reads names the blocks of the duplicate addresses.
func (e *Evict) Reads(model.Ref, model.Object) ([]model.Ref, error) {
	var refs []model.Ref
	for _, k := range e.Keeps {
		refs = append(refs, k.block())
	}
	return refs, nil
}

// Edit evicts the pod. Condition: for each of Keeps, IPAM already has the address for the
// handle that keeps it.
func (e *Evict) Edit(sc Scene) (Edited, error) {
	if !sc.Live.There() || sc.Live.UID != e.UID {
		return Edited{}, ErrAlready
	}
	for _, k := range e.Keeps {
		o := sc.Also[k.block()]
		if !o.There() {
			return Edited{}, moved("the block of %s is gone", k.IP)
		}
		b, err := readBlock(o)
		if err != nil {
			return Edited{}, err
		}
		if n := b.ordinal(k.IP); n < 0 || !b.heldBy(n, k.Handle) {
			return Edited{}, moved("IPAM does not have %s for the pod that keeps it", k.IP)
		}
	}
	out, err := sc.deleted(nil, "evicted")
	out.Acts = e.others()
	return out, err
}

// others demands that nobody else has an address of the pod that is not among Keeps: its DEL releases it. The API server finds
// pods by their first address only, so every node must verify it too.
func (e *Evict) others() *Acting {
	var ips []netip.Addr
	for _, ip := range e.Has.IPs {
		if !slices.ContainsFunc(e.Keeps, func(k Keep) bool { return k.IP == ip }) {
			ips = append(ips, ip)
		}
	}
	if len(ips) == 0 {
		return nil
	}
	return &Acting{Alone: ips, NotInUse: &NotInUse{All: true, IPs: ips, Except: []string{e.Has.Container}}}
}
