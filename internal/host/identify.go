package host

import (
	"bytes"
	"context"
)

// known is what a process was found to be. It holds for as long as the process is the
// same and has not become another program: an exec gives it another name or environment.
type known struct {
	start, env uint64
	name       string
	identity
}

type identity struct {
	command, container string            // of a CNI call
	felix              bool              // it is Felix
	set                map[string]string // Felix's settings
}

// cni tells that it is a CNI call.
func (i *identity) cni() bool { return i.command != "" && i.container != "" }

// identify says what a process is: its environment is read once. An error means that it
// could not be told.
func (h *Host) identify(ctx context.Context, p *process) (identity, error) {
	k, ok := h.known[p.id]
	// One that is ending has no environment any more, and is what it was.
	if ok && k.start == p.start && k.name == p.name && (k.env == p.env || p.env == 0) {
		return k.identity, nil
	}
	if p.id == 1 || p.state == 'Z' && p.alive() == 0 {
		return identity{}, nil
	}
	if p.hung() {
		return identity{}, errUnread
	}
	dir := h.dir(p)
	env, err := h.memoryOf(ctx, dir+"/environ")
	if err != nil {
		if gone(err) {
			return identity{}, nil
		}
		return identity{}, err
	}
	var i identity
	i.command, i.container, i.set = parseEnviron(env)
	i.felix = h.isFelix(ctx, p, dir)
	if !i.felix {
		i.set = nil
	}
	if p.env != 0 {
		h.known[p.id] = known{start: p.start, env: p.env, name: p.name, identity: i}
	}
	return i, nil
}

// isFelix: it is a program of its own, or a part of calico-node that is named by an argument.
func (h *Host) isFelix(ctx context.Context, p *process, dir string) bool {
	switch p.name {
	case "calico-felix":
		return true
	case "calico-node", "calico":
		b, err := h.memoryOf(ctx, dir+"/cmdline")
		return err == nil && felixArgs(b)
	default:
		return false
	}
}

func felixArgs(cmdline []byte) bool {
	for arg := range bytes.SplitSeq(cmdline, []byte{0}) {
		if s := string(arg); s == "felix" || s == "-felix" || s == "--felix" {
			return true
		}
	}
	return false
}

// forget drops what is known of processes that are gone.
func (h *Host) forget(alive map[int]bool) {
	for pid := range h.known {
		if !alive[pid] {
			delete(h.known, pid)
		}
	}
}
