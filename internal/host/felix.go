package host

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"
)

// felixNames are the process names that Felix may have.
var felixNames = map[string]bool{"calico-felix": true, "calico-node": true, "calico": true}

// A felix is what is known of Felix beyond its process.
type felix struct {
	set     map[string]string
	refused []string // settings with values that are not accepted
}

// runsAsFelix reports whether a process is Felix: it is in the host's network namespace,
// and is a program of its own or a part of calico-node that is selected by an argument.
func (h *Host) runsAsFelix(ctx context.Context, p *process) (bool, error) {
	if !felixNames[p.Name] {
		return false, nil
	}
	if same, err := h.shares(h.dir(p), "net"); err != nil || !same || p.Name == "calico-felix" {
		return same, err
	}
	b, err := h.memoryOf(ctx, p, "cmdline")
	return err == nil && felixArgs(b), err
}

func felixArgs(cmdline []byte) bool {
	for arg := range bytes.SplitSeq(cmdline, []byte{0}) {
		if s := string(arg); s == "felix" || s == "-felix" || s == "--felix" {
			return true
		}
	}
	return false
}

// older selects the older of two processes that run as Felix.
func older(p, than *process) bool {
	return than == nil || p.Start < than.Start || p.Start == than.Start && p.ID < than.ID
}

// findFelix finds the process; nil if there is none. The error reports what could not be
// read of it, or of a process that may be it. It also notes the kubelet.
func (h *Host) findFelix(ctx context.Context) (*felix, error) {
	if err := h.procs.take(ctx); err != nil {
		return nil, err
	}
	defer h.procs.leave()
	var it, maybe, node *process
	var unsure error
	err := h.walk(ctx, few, func(p *process) {
		if p.State == 'Z' {
			return
		}
		node = h.olderKubelet(p, node)
		if !felixNames[p.Name] {
			return
		}
		switch i, err := h.identify(ctx, p); {
		case err != nil && older(p, maybe):
			maybe, unsure = p, fmt.Errorf("%s pid %d may be Felix: %w", p.Name, p.ID, err)
		case i.isFelix && older(p, it):
			it = p
		}
	})
	h.noteKubelet(ctx, node)
	if maybe != nil && older(maybe, it) {
		err = also(err, unsure)
	}
	if it == nil {
		return nil, err
	}
	f, unread := h.askFelix(ctx, it)
	return f, also(err, unread)
}

// askFelix reads its settings, once.
func (h *Host) askFelix(ctx context.Context, p *process) (*felix, error) {
	k := h.known[p.ID]
	if k.felix == nil {
		env, err := h.memoryOf(ctx, p, "environ")
		if err != nil {
			return &felix{}, fmt.Errorf("read Felix' settings: %w", err)
		}
		k.felix = &felix{}
		k.felix.set, k.felix.refused = parseSettings(env)
		if p.Env != 0 {
			h.known[p.ID] = k
		}
	}
	f := &felix{set: maps.Clone(k.felix.set)}
	if len(k.felix.refused) > 0 {
		return f, fmt.Errorf("read Felix' settings: unexpected values of %s", strings.Join(k.felix.refused, ", "))
	}
	return f, nil
}
