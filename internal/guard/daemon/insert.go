package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

// Bounds of the delay after the runtime did not load the guard. It doubles each time.
const (
	retryFirst = time.Minute
	retryLast  = 30 * time.Minute
)

// insert installs the program and then inserts the guard into the file. on says that the
// runtime has it loaded.
func (k *daemon) insert(ctx context.Context, f *cniconf.File, s *stage, state cniconf.State) (on bool, why string) {
	l := &k.install
	err := k.place(s)
	if err != nil && !s.program.sits() {
		if state == cniconf.Patched {
			err = errors.Join(err, k.rescue(ctx, f, s.binDirs))
		}
		return false, err.Error()
	}
	if err != nil {
		why = fmt.Sprintf("the guard's program could not be updated: %v", err)
	}
	if bad := k.answers(ctx, s); bad != nil {
		why := k.unusable(ctx, f, state, bad).Error()
		return k.at().on && state == cniconf.Patched && l.failures < failuresIn, why
	}
	refused := false
	loaded := func(ctx context.Context) (bool, string, error) {
		net, err := k.Networking(ctx)
		if err != nil {
			return false, "", err
		}
		ok, why := shows(&net, s.network)
		refused = !ok
		return ok, why, nil
	}
	if state == cniconf.Patched {
		switch ok, _, err := loaded(ctx); {
		case err != nil:
			return k.at().on, err.Error() // unknown: keep what was last known
		case ok:
			l.retry, l.wait = time.Time{}, 0
			return true, why
		}
	} else if k.Now().Before(l.retry) {
		return false, fmt.Sprintf("the guard was removed again: next attempt at %s", l.retry.UTC().Format(time.RFC3339))
	}
	changed, err := cniconf.Install(ctx, f, loaded)
	if changed {
		k.Log.Info("guard inserted", "file", k.host(s.file))
		k.say(func(r *guard.Report) { r.Put++ })
	}
	if err == nil {
		l.retry, l.wait = time.Time{}, 0
		return true, why
	}
	if refused { // else the runtime was not asked: the file is being written, or is locked
		l.wait = min(max(2*l.wait, retryFirst), retryLast)
		l.retry = k.Now().Add(l.wait)
	}
	return false, err.Error()
}

// place installs the program beside Calico's, identical to ours, and removes its marker.
func (k *daemon) place(s *stage) (err error) {
	if s.program, err = beside(k.tree, s.binDirs); err != nil {
		return err
	}
	p, l := s.program, &k.install
	l.watch = append(l.watch, p.file(), p.marker())
	if trace(p.file()) != l.same || !p.sits() {
		changed, err := p.put(k.Program)
		if err != nil {
			return err
		}
		if changed {
			k.Log.Info("guard program installed", "at", p.host)
		}
		l.same = trace(p.file())
	}
	return remove(p.marker())
}

// rescue handles a file that names a program that does not exist: no pod could start. It
// removes the guard from the file, unless the runtime finds the program in another
// directory.
func (k *daemon) rescue(ctx context.Context, f *cniconf.File, binDirs []string) error {
	all, err := placed(k.tree, binDirs)
	if slices.ContainsFunc(all, program.sits) {
		return err
	}
	changed, out := cniconf.Remove(ctx, f)
	if changed {
		k.Log.Warn("the guard's program is missing: guard removed from the CNI configuration")
	}
	return errors.Join(err, out)
}

// shows reports whether the runtime has loaded the guard. Multus reads the file that it
// refers to at every call: then the runtime has loaded Multus' configuration and does not
// report the guard.
func shows(net *cri.Networking, network string) (bool, string) {
	for _, n := range net.Networks {
		if n.Name != network || n.IfName == "lo" {
			continue
		}
		for _, kind := range []string{cniconf.Guard, "multus", "multus-shim"} {
			if slices.Contains(n.Types, kind) {
				return true, ""
			}
		}
		return false, fmt.Sprintf("the plugins of network %.64q are %.256q", network, n.Types)
	}
	if net.Trouble != "" {
		return false, net.Trouble
	}
	return false, fmt.Sprintf("network %.64q is not loaded", network)
}
