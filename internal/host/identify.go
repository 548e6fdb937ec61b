package host

import "context"

// known is what a process was identified as. It is valid while the process is the same and
// has not executed another program: an exec changes its name or environment.
type known struct {
	start, env uint64
	name       string
	identity
	felix *felix // details of Felix, once read
}

type identity struct {
	command, container, pod string // of a CNI call
	isFelix                 bool   // it is Felix
}

// cni reports whether it is a CNI call.
func (i *identity) cni() bool { return i.command != "" && i.container != "" }

// identify determines what a process is: its memory is read once, and only if its
// namespaces allow it to be one that matters. A process of a pod cannot pretend to be one.
// An error means that it is unknown.
func (h *Host) identify(ctx context.Context, p *process) (identity, error) {
	if k, ok := h.known[p.ID]; ok && k.is(p) {
		return k.identity, nil
	}
	nested := h.nested(p)
	if p.ID == 1 || p.State == 'Z' && p.alive() == 0 || nested && !felixNames[p.Name] {
		return identity{}, nil
	}
	i, err := h.readIdentity(ctx, p, nested)
	switch {
	case err != nil && gone(err):
		return identity{}, nil
	case err != nil:
		return identity{}, err
	}
	if p.Env != 0 {
		h.known[p.ID] = known{start: p.Start, env: p.Env, name: p.Name, identity: i}
	}
	return i, nil
}

// is reports whether the process is the one that was identified. One that is ending has no
// environment any more; its identity stays.
func (k *known) is(p *process) bool {
	return k.start == p.Start && k.name == p.Name && (k.env == p.Env || p.Env == 0)
}

// readIdentity reads the memory of a process. A nested one can only be Felix.
func (h *Host) readIdentity(ctx context.Context, p *process, nested bool) (i identity, err error) {
	if !nested {
		var env []byte
		env, err = h.memoryOf(ctx, p, "environ")
		i.command, i.container, i.pod = parseCall(env)
	}
	if err == nil && !i.cni() {
		i.isFelix, err = h.runsAsFelix(ctx, p)
	}
	return i, err
}

// forget drops processes that have ended.
func (h *Host) forget(alive map[int]bool) {
	for pid := range h.known {
		if !alive[pid] {
			delete(h.known, pid)
		}
	}
	for pid := range h.places {
		if !alive[pid] {
			delete(h.places, pid)
		}
	}
}
