package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
)

// options are those of the cluster, with notices and progress on stderr; done removes the
// progress from the terminal.
func (g *global) options() (o cluster.Options, done func()) {
	o = g.cluster
	o.StateDir, _ = g.stateDir()
	o.Notice = func(s string) { fmt.Fprintln(g.Stderr, clean(s)) }
	o.Progress, done = g.progress()
	return o, done
}

// open opens the cluster; done is that of options.
func (g *global) open(ctx context.Context) (c *cluster.Cluster, done func(), err error) {
	o, done := g.options()
	c, err = cluster.Open(ctx, o)
	if err != nil {
		done()
		return nil, nil, err
	}
	return c, done, nil
}

// judge makes one check, of the bundle or of the cluster. Of the cluster, labels restrict it to
// findings about the pods that have them.
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
