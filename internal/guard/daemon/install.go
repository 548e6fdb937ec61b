package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/guard"
)

const lookAgain = 15 * time.Second

// An installState is the state of the worker that installs the guard.
type installState struct {
	mode  guard.Mode // the mode to be in force
	doubt string     // why the configured mode is unknown; empty if it is known
	done  guard.Mode // mode at the last complete run; empty to force a run
	kept  guard.Mode // mode on disk for the next boot

	unkept string // why it could not be written, as last reported

	next  time.Time // of complete runs
	watch []string  // files whose change triggers a complete run
	trace string    // their trace at the last complete run
	said  string    // last reported reason why the node is not as configured

	ran      string // trace of the program when it answered
	ranAt    time.Time
	failures int // how often in a row it did not

	retry   time.Time // not before: the runtime did not load the guard
	wait    time.Duration
	plugin  versionState
	same    string    // trace of the program when it was identical to ours
	binDirs []string  // as the runtime last reported them
	search  time.Time // when to search again for files that name the program
	unnamed time.Time // since when no file does
	off     time.Time // since when the guard is off
}

// installs brings the node into the configured mode. Most of the time it only checks
// whether anything has changed.
func (k *daemon) installs(ctx context.Context) {
	l := &k.install
	k.wants()
	now := k.Now()
	if l.mode == l.done && now.Before(l.next) && !now.Before(l.next.Add(-lookAgain)) && trace(l.watch...) == l.trace {
		return
	}
	why := k.reconcile(ctx)
	if l.doubt != "" && why != "" {
		why = "; " + why
	}
	why = l.doubt + why
	l.done, l.next, l.trace = l.mode, now.Add(lookAgain), trace(l.watch...)
	if why != l.said {
		k.Log.Info("guard", "mode", l.mode, "why", why)
		l.said = why
	}
	k.say(func(r *guard.Report) { r.Wanted, r.Why = l.mode, why })
}

// wants reads the configured mode. If it is unknown, the mode in force stays.
func (k *daemon) wants() {
	l := &k.install
	m, err := wanted(k.Modes, k.Node)
	if err != nil {
		doubt := fmt.Sprintf("%v: the mode stays %s", err, l.mode)
		if doubt != l.doubt {
			l.doubt, l.done = doubt, "" // report it
		}
		return
	}
	if l.doubt != "" {
		l.doubt, l.done = "", ""
	}
	if m != l.kept && k.keepMode(m) {
		l.kept = m
	}
	if m != l.mode {
		k.Log.Info("mode", "wanted", m, "was", l.mode)
		l.mode, l.retry, l.wait = m, time.Time{}, 0
	}
}

// reconcile brings the node into the configured mode and returns why it could not.
func (k *daemon) reconcile(ctx context.Context) string {
	l := &k.install
	// First, without asking the runtime: these files control the plugin.
	for file, says := range map[string]string{guard.ModeFile: string(l.mode), guard.KindFile: calico} {
		if err := settle(k.file(file), says+"\n"); err != nil {
			return err.Error()
		}
	}
	k.mu.Lock()
	k.stage.mode = l.mode // whatever fails below: nothing may be done in a mode that was switched off
	k.mu.Unlock()
	k.say(func(r *guard.Report) {
		if r.Wanted = l.mode; r.Mode != "" {
			r.Mode = l.mode
		}
	})
	if l.mode != guard.Off {
		l.off, l.unnamed, l.search = time.Time{}, time.Time{}, time.Time{}
	} else if err := k.pass(); err != nil {
		return err.Error()
	}
	net, err := k.Networking(ctx)
	if err != nil {
		return err.Error()
	}
	dir, err := k.tree.Resolve(net.ConfDir)
	if err != nil {
		return fmt.Sprintf("find the runtime's CNI configuration directory: %v", err)
	}
	in := pods(&net)
	s := stage{mode: l.mode, network: in.Name, ifName: in.IfName, binDirs: net.BinDirs}
	dir = k.tree.Path(dir)
	l.watch, l.binDirs = below(dir), net.BinDirs
	if l.mode == guard.Off {
		return k.leave(ctx, s, dir, &net)
	}
	return k.enter(ctx, s, dir, &net)
}

// maxWatched bounds the files of a directory whose changes are noticed at once.
const maxWatched = 64

// below returns a directory and its files: a writer that truncates a file and then writes
// it does not change the directory.
func below(dir string) []string {
	out := []string{dir}
	d, err := os.Open(dir)
	if err != nil {
		return out
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(maxWatched) // changes of the others are noticed by the next complete run
	slices.Sort(names)
	for _, name := range names {
		out = append(out, filepath.Join(dir, name))
	}
	return out
}

// pods returns the network of pods.
func pods(n *cri.Networking) cri.Network {
	for _, net := range n.Networks {
		if net.IfName != "lo" {
			return net
		}
	}
	return cri.Network{}
}
