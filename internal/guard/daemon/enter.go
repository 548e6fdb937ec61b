package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

// enter inserts the guard into the configuration that the runtime has loaded. A foreign
// file is left alone; one that is half written is retried.
func (k *daemon) enter(ctx context.Context, s stage, dir string, net *cri.Networking) string {
	file, err := cniconf.Effective([]string{dir}, s.network)
	if err != nil {
		if net.Trouble != "" {
			err = fmt.Errorf("%w (the runtime: %s)", err, net.Trouble)
		}
		k.set(stage{mode: s.mode})
		k.say(func(r *guard.Report) {
			r.Mode, r.File, r.State, r.Named, r.Delegate = "", "", string(cniconf.Broken), 0, ""
			r.Version, r.Keyed, r.Doubt = "", "", ""
			if errors.Is(err, cniconf.ErrForeign) {
				r.State = string(cniconf.Foreign)
			}
		})
		return err.Error()
	}
	s.file = file
	f := cniconf.NewFile(file, s.network, dir)
	state, why := f.State()
	if state == cniconf.Plain || state == cniconf.Patched {
		s.on, why = k.insert(ctx, f, &s, state)
		state, _ = f.State()
	}
	k.set(s)
	k.readVersion(ctx, &s, f)
	k.say(func(r *guard.Report) {
		r.File, r.State, r.Program, r.Named = k.host(file), string(state), s.program.host, 0
		r.Mode, r.Delegate = "", ""
		if s.on {
			r.Mode, r.Delegate = k.install.mode, calico
		}
	})
	return why
}

// host returns the host's path of a path in this container.
func (k *daemon) host(seen string) string {
	rel, err := filepath.Rel(string(k.tree), seen)
	if err != nil {
		return seen
	}
	return filepath.Join("/", rel)
}
