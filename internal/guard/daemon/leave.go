package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

const (
	searchAgain = time.Minute
	// unnamedFor is how long no file must have named the program before it is removed: a
	// call that began with the old configuration is over by then.
	unnamedFor = 2 * time.Minute
	// owedFor is how long queued DELs keep the program of a guard that is off.
	owedFor = time.Hour
)

// pass makes all installed programs pass calls on, whatever the mode file says.
func (k *daemon) pass() error {
	all, err := placed(k.tree, k.install.binDirs)
	for _, p := range all {
		err = errors.Join(err, p.mark())
	}
	return err
}

// leave removes the guard from every file, and its program when no file names it.
func (k *daemon) leave(ctx context.Context, s stage, dir string, net *cri.Networking) string {
	l := &k.install
	if l.off.IsZero() {
		l.off = k.Now()
	}
	errs := []error{k.pass()} // the directories may be known only now
	files, err := cniconf.NamedBy([]string{dir}, nil)
	errs = append(errs, err)
	for _, file := range files {
		if filepath.Dir(file) != filepath.Clean(dir) {
			continue
		}
		changed, err := cniconf.Remove(ctx, cniconf.NewFile(file, s.network, dir))
		if changed {
			k.Log.Info("guard removed", "file", k.host(file))
		}
		errs = append(errs, err)
	}
	state, patched := k.stateOf(&s, dir)
	programs, err := placed(k.tree, s.binDirs)
	errs = append(errs, err)
	if len(programs) > 0 {
		s.program = programs[0]
		errs = append(errs, k.clear(programs, dir, net))
		programs, err = placed(k.tree, s.binDirs)
		errs = append(errs, err)
	}
	k.set(s)
	k.say(func(r *guard.Report) {
		r.File, r.State, r.Mode, r.Delegate, r.Program = "", state, "", "", ""
		r.Version, r.Keyed, r.Doubt = "", "", ""
		if s.file != "" {
			r.File = k.host(s.file)
		}
		if patched {
			r.Mode = guard.Off
		}
		if len(programs) > 0 {
			r.Program = programs[0].host
		} else {
			r.Named = 0
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err.Error()
	}
	return ""
}

// stateOf finds the loaded configuration and its state.
func (k *daemon) stateOf(s *stage, dir string) (state string, patched bool) {
	file, err := cniconf.Effective([]string{dir}, s.network)
	if err != nil {
		return string(cniconf.Broken), false
	}
	s.file = file
	is, _ := cniconf.NewFile(file, s.network, dir).State()
	return string(is), is == cniconf.Patched
}

// clear removes the programs if for a while no configuration, cache or runtime has named
// them. If that is uncertain they stay.
func (k *daemon) clear(programs []program, dir string, net *cri.Networking) error {
	l, now := &k.install, k.Now()
	if now.Before(l.search) && !now.Before(l.search.Add(-searchAgain)) {
		return nil
	}
	l.search = now.Add(searchAgain)
	caches, err := k.caches()
	if err != nil {
		return err
	}
	named, err := cniconf.NamedBy([]string{dir}, caches)
	k.say(func(r *guard.Report) { r.Named = len(named) })
	owed, queue := k.db.Queued()
	holds := err != nil || queue != nil || len(named) > 0 || len(owed) > 0 && now.Sub(l.off) < owedFor ||
		slices.ContainsFunc(net.Networks, func(n cri.Network) bool { return slices.Contains(n.Types, cniconf.Guard) })
	switch {
	case holds:
		l.unnamed = time.Time{}
		if err != nil {
			err = fmt.Errorf("find the files that name the guard's program: %w", err)
		}
		return errors.Join(err, queue)
	case l.unnamed.IsZero():
		l.unnamed = now
		fallthrough
	case now.Sub(l.unnamed) < unnamedFor:
		return nil
	}
	for _, p := range programs {
		if err := p.take(); err != nil {
			return err
		}
		k.Log.Info("guard program removed: no file names it", "from", p.host, "queued", len(owed))
	}
	return nil
}

// caches returns the directories that hold the configuration of each ADD, as paths of this
// container.
func (k *daemon) caches() ([]string, error) {
	var out []string
	for _, dir := range cniconf.Caches {
		real, err := k.tree.Resolve(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, k.tree.Path(real))
	}
	return out, nil
}
