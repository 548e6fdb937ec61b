package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/term"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
)

// options are the cluster's, with what a person at this terminal is told meanwhile. Done
// takes what was drawn away.
func (g *global) options() (o cluster.Options, done func()) {
	o = g.cluster
	o.StateDir, _ = g.stateDir()
	o.Notice = func(s string) { fmt.Fprintln(g.Stderr, clean(s)) }
	o.Progress, done = g.progress()
	return o, done
}

// open opens the cluster.
func (g *global) open(ctx context.Context) (*cluster.Cluster, func(), error) {
	o, done := g.options()
	c, err := cluster.Open(ctx, o)
	if err != nil {
		done()
		return nil, nil, err
	}
	return c, done, nil
}

// judge makes one check, of the bundle or of the cluster; with labels, only of what is about
// the pods of the cluster that have them.
func (g *global) judge(ctx context.Context, o audit.Options, namespace, labels string) (*audit.Report, error) {
	if g.bundle != "" {
		s, err := cluster.ReadBundle(g.bundle)
		if err != nil {
			return nil, err
		}
		return audit.Judge(ctx, s, audit.Source{}, o), nil
	}
	c, done, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	defer c.Close()
	return c.CheckSelected(ctx, o, namespace, labels)
}

// stateDir is where journals are kept, and unconfirmed findings.
func (g *global) stateDir() (string, error) {
	dir := g.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home := g.Getenv("HOME")
		if home == "" {
			return "", errors.New("no place for a journal: set HOME or XDG_STATE_HOME")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return dir, nil
}

// progress shows on a terminal what is being read; a pipe sees nothing of it.
func (g *global) progress() (tell func(string, int, bool), done func()) {
	f, ok := g.Stderr.(*os.File)
	if !g.verbose && (!ok || !term.IsTerminal(int(f.Fd()))) {
		return func(string, int, bool) {}, func() {}
	}
	p := &meter{w: g.Stderr, lines: g.verbose, begun: map[string]time.Time{}}
	return p.report, p.done
}

type meter struct {
	mu    sync.Mutex
	w     io.Writer
	lines bool
	begun map[string]time.Time
	drawn bool
}

func (m *meter) report(name string, rows int, done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !done:
		m.begun[name] = time.Now() //nolint:forbidigo // how long a read took is for the person who waits
		if !m.lines {
			fmt.Fprintf(m.w, "\r\x1b[Kreading %s …", name)
			m.drawn = true
		}
	case m.lines:
		fmt.Fprintf(m.w, "read %-20s %9s rows in %s\n", name, thousands(rows), time.Since(m.begun[name]).Round(time.Millisecond))
	}
}

func (m *meter) done() {
	if m.drawn {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}
