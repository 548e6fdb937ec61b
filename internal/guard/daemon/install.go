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

// A look is what the installing worker knows.
type look struct {
	mode  guard.Mode // that is to be in force
	doubt string     // why it is not known whether that is what is wanted
	done  guard.Mode // what it was at the last whole look
	next  time.Time  // of whole looks
	watch []string   // files whose change is a reason for one
	trace string     // of them
	said  string     // why it is not as it is wanted, last

	retry   time.Time // not before: the runtime did not take the guard
	wait    time.Duration
	asked   string    // trace of Calico's plugin when it told its version
	same    string    // trace of the program when it was the same as ours
	binDirs []string  // as the runtime last told them
	search  time.Time // when those who name the program are looked for again
	unnamed time.Time // since when nobody does
	off     time.Time // since when it is
}

// installs makes the node as it is wanted. Most of the times it only looks whether
// anything has changed.
func (k *Daemon) installs(ctx context.Context) {
	l := &k.observe
	k.wants()
	now := k.Now()
	if l.mode == l.done && now.Before(l.next) && !now.Before(l.next.Add(-lookAgain)) && trace(l.watch...) == l.trace {
		return
	}
	why := k.withDefaults(ctx)
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

// wants reads which mode is wanted. Where that cannot be known, what is in force stays.
func (k *Daemon) wants() {
	l := &k.observe
	m, err := wanted(k.Modes, k.Node)
	if err != nil {
		doubt := fmt.Sprintf("%v: it stays %s", err, l.mode)
		if doubt != l.doubt {
			l.doubt, l.done = doubt, "" // to be said
		}
		return
	}
	if l.doubt != "" {
		l.doubt, l.done = "", ""
	}
	if m != l.mode {
		k.Log.Info("mode", "wanted", m, "was", l.mode)
		l.mode, l.retry, l.wait = m, time.Time{}, 0
	}
}

// withDefaults makes the node as it is wanted, and says why it is not.
func (k *Daemon) withDefaults(ctx context.Context) string {
	l := &k.observe
	// First, without asking anybody: this is what the guard itself goes by.
	for file, says := range map[string]string{guard.ModeFile: string(l.mode), guard.KindFile: calico} {
		if err := settle(k.file(file), says+"\n"); err != nil {
			return err.Error()
		}
	}
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
	dir, err := k.tree.real(net.ConfDir)
	if err != nil {
		return fmt.Sprintf("find the runtime's directory of networks: %v", err)
	}
	in := pods(&net)
	s := stage{network: in.Name, ifName: in.IfName, binDirs: net.BinDirs}
	dir = k.tree.seen(dir)
	l.watch, l.binDirs = below(dir), net.BinDirs
	if l.mode == guard.Off {
		return k.leave(ctx, s, dir, &net)
	}
	return k.enter(ctx, s, dir, &net)
}

// maxWatched bounds the files of a directory whose changes are seen at once.
const maxWatched = 64

// below gives a directory and what is in it: who truncates a file and then writes it
// changes the directory not at all.
func below(dir string) []string {
	out := []string{dir}
	d, err := os.Open(dir)
	if err != nil {
		return out
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(maxWatched) // those that were not read are seen later
	slices.Sort(names)
	for _, name := range names {
		out = append(out, filepath.Join(dir, name))
	}
	return out
}

// pods gives the network into which the runtime puts pods.
func pods(n *cri.Networking) cri.Network {
	for _, net := range n.Networks {
		if net.IfName != "lo" {
			return net
		}
	}
	return cri.Network{}
}
