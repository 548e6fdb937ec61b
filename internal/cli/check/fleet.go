package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// clustersAtOnce are read side by side: a judgement of a large one needs up to 2 GB.
const clustersAtOnce = 4

// A member is one cluster of several, and how its check went. What is kept of it is small beside the cluster.
type member struct {
	Context string
	SameAs  string // an earlier context of the same cluster: findings of both are counted once
	Err     error  // it could not be read
	Doc     cluster.CheckReport
	Checked cluster.Checked
	Totals  string
	Gaps    []string // what was not checked
	server  string
	exit    error
}

// fleet checks the clusters of several contexts, one judgement each.
func fleet(ctx context.Context, sess *term.Session, f flags, opts audit.Options) error {
	contexts, err := fleetOf(sess, f)
	if err != nil {
		return err
	}
	p := &fleetProgress{meter: sess.StepMeter("cluster"), w: sess.Stderr, of: len(contexts)}
	all := make([]member, len(contexts))
	turn := make(chan struct{}, clustersAtOnce)
	alone := map[string]*sync.Mutex{} // contexts of one API server share what is kept of unconfirmed findings: one after the other
	var wg sync.WaitGroup
	for i, name := range contexts {
		own := memberSession(sess, name, p)
		server := cluster.Server(own.Cluster)
		if alone[server] == nil {
			alone[server] = &sync.Mutex{}
		}
		mu := alone[server]
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			turn <- struct{}{}
			defer func() { <-turn }()
			all[i] = checkMember(ctx, own, f, opts)
			all[i].server = server
			p.tell()
		})
	}
	wg.Wait()
	p.meter.Clear()
	if err := ctx.Err(); err != nil {
		return err
	}
	sameClusters(all)
	if err := showFleet(sess, all, f); err != nil {
		return err
	}
	return fleetVerdict(all)
}

// sameClusters finds contexts of one cluster: the same API server, and the same cluster behind it. A proxy may have several
// clusters at one address, and a cluster that was made from a backup of another has its GUID.
func sameClusters(all []member) {
	first := map[[2]string]string{}
	for i := range all {
		m := &all[i]
		key := [2]string{m.server, m.Doc.Cluster.GUID}
		if m.Err != nil || key[0] == "" || key[1] == "" {
			continue
		}
		if of, ok := first[key]; ok {
			m.SameAs = of
		} else {
			first[key] = m.Context
		}
	}
}

// fleetOf are the contexts that were asked for. A typo is said before any cluster is read.
func fleetOf(sess *term.Session, f flags) ([]string, error) {
	if err := f.oneOnly(sess); err != nil {
		return nil, err
	}
	known, err := cluster.Contexts(sess.Cluster)
	switch {
	case err != nil:
		return nil, err
	case len(known) == 0:
		return nil, errors.New("the kubeconfig has no contexts: pass --kubeconfig or set KUBECONFIG")
	case f.allContexts && len(f.contexts) > 0:
		return nil, errors.New("--contexts and --all-contexts: one of them")
	case f.allContexts:
		return known, nil
	}
	var out []string
	for _, name := range f.contexts {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--contexts %s: no such context in the kubeconfig", name)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("--contexts: names no context")
	}
	return out, nil
}

// oneOnly refuses flags that mean one cluster. A token or a server is never sent to others.
func (f *flags) oneOnly(sess *term.Session) error {
	k := &sess.Cluster.Kube
	for _, x := range []struct {
		flag  string
		given bool
	}{
		{"--bundle", sess.Bundle != ""},
		{"--watch", f.watch},
		{"--against", f.against != ""},
		{"--logs", len(f.logs) > 0},
		{"--from-controller", f.told},
		{"--probe", f.probe},
		{"--all", f.list},
		{"--node", f.node != ""},
		{"--context", k.Context != ""},
		{"--cluster", k.Overrides.Cluster != ""},
		{"--user", k.Overrides.User != ""},
		{"--server", k.Overrides.Server != ""},
		{"--token", k.Overrides.Token != ""},
		{"--etcd-endpoints", len(sess.Cluster.Etcd.Endpoints) > 0},
		{"--etcd-cacert", sess.Cluster.Etcd.CACert != ""},
		{"--etcd-cert", sess.Cluster.Etcd.Cert != ""},
		{"--etcd-key", sess.Cluster.Etcd.Key != ""},
		{"-o " + f.output, !term.IsDocument(f.output) && !slices.Contains([]string{"text", "wide", "html"}, f.output)},
	} {
		if x.given {
			return fmt.Errorf("%s: not with --contexts or --all-contexts", x.flag)
		}
	}
	return nil
}

// memberSession is the session with another context. The etcd that the environment names belongs to one cluster.
func memberSession(sess *term.Session, name string, p *fleetProgress) *term.Session {
	own := *sess
	own.Cluster.Kube.Context = name
	own.Stderr = &namedWriter{p, plain.Line(name)}
	own.Getenv = func(key string) string {
		if key == "ETCD_ENDPOINTS" {
			return ""
		}
		return sess.Getenv(key)
	}
	return &own
}

// A fleetProgress shows how many clusters are done, and what is said of each.
type fleetProgress struct {
	mu    sync.Mutex
	meter term.StepMeter
	w     io.Writer
	n, of int
}

func (p *fleetProgress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	p.meter.Tell(p.n, p.of)
}

// A namedWriter begins each line with the context that it is about.
type namedWriter struct {
	p    *fleetProgress
	name string
}

func (n *namedWriter) Write(text []byte) (int, error) {
	n.p.mu.Lock()
	defer n.p.mu.Unlock()
	n.p.meter.Clear()
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Fprintf(n.p.w, "%s: %s\n", n.name, strings.TrimSuffix(line, "\n")); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

func checkMember(ctx context.Context, sess *term.Session, f flags, opts audit.Options) member {
	m := member{Context: sess.Cluster.Kube.Context}
	r, err := checkSettled(ctx, sess, f, opts)
	if err != nil {
		m.Err = err
		return m
	}
	m.Doc, m.Checked, m.Totals, m.Gaps, m.exit = cluster.ReportOf(r), cluster.CheckedOf(r, f.namespace, ""), r.Totals("finding"), r.NotChecked(), verdict(r, f)
	return m
}

// fleetVerdict is the exit code: findings of any cluster count before what could not be read, and none that could be read is an error.
func fleetVerdict(all []member) error {
	out, read := error(nil), 0
	for i := range all {
		m := &all[i]
		switch {
		case m.Err != nil && out == nil:
			out = term.ExitGaps
		case m.Err == nil:
			read++
			if errors.Is(m.exit, term.ExitFindings) || out == nil {
				out = m.exit
			}
		}
	}
	if read == 0 {
		return term.ExitUsage
	}
	return out
}
