// Package ui is the verb ui: the pages about a cluster or a bundle, for a browser on this machine.
package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/render"
	"plumbline.dev/plumbline/internal/web"
)

// flags say what is shown, and where.
type flags struct {
	listen  string
	told    bool // by the controller
	account string
	settle  time.Duration
}

// Command is the command ui.
func Command(sess *term.Session) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "ui",
		Short: "Show findings, pods, nodes and IPAM in a browser on this machine",
		Long: "Follows the cluster with your own kubeconfig, and shows what it judges as pages\n" +
			"for a browser on this machine: findings, the network of a pod as a ladder, a map\n" +
			"of IPAM, nodes. The address that it prints has a code that is good once. The UI\n" +
			"changes nothing: it shows the commands to paste. With --bundle it shows a file\n" +
			"that collect wrote.",
		Example: fmt.Sprintf("  %[1]s ui\n  %[1]s ui --bundle cluster.tar.gz\n  %[1]s ui --listen 127.0.0.1:8080", sess.Program),
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), sess, f) },
	}
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "address to listen on, of this machine only")
	c.Flags().DurationVar(&f.settle, "settle", 0, "how long a difference must persist to be confirmed, instead of the time of its kind")
	c.Flags().BoolVar(&f.told, "from-controller", false, "show the pages of the controller, instead of following the cluster from here")
	c.Flags().StringVar(&f.account, "account", "", "NAMESPACE/NAME of the ServiceAccount with whose rights the controller shows them (default that of readers)")
	return c
}

func run(ctx context.Context, sess *term.Session, f flags) error {
	if f.told && sess.Bundle != "" {
		return errors.New("--from-controller: not with --bundle")
	}
	if f.account != "" && !f.told {
		return errors.New("--account: only with --from-controller")
	}
	l, err := open(ctx, f.listen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	handler, follow, err := source(ctx, sess, f)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	door := web.NewLocal(l.Addr(), handler)
	srv := &http.Server{Handler: door, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return ctx }}
	fmt.Fprintln(sess.Stdout, door.URL())
	fmt.Fprintln(sess.Stderr, "open this address in a browser on this machine; it is good once. Ctrl-C ends")
	ended := make(chan error, 2)
	go func() { ended <- srv.Serve(l) }()
	go func() { ended <- follow() }()
	select {
	case <-ctx.Done():
		err = nil
	case err = <-ended:
	}
	cancel()
	return errors.Join(err, srv.Close())
}

// open listens, on loopback only: the pages show what the kubeconfig may read.
func open(ctx context.Context, listen string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("--listen %s: the UI shows all that your kubeconfig may read: want an address of this machine only, such as 127.0.0.1:8080", listen)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, err
	}
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() { // what a name means is the resolver's word
		return nil, errors.Join(fmt.Errorf("--listen %s is not of this machine only, but %s", listen, l.Addr()), l.Close())
	}
	return l, nil
}

func where(sess *term.Session) string {
	if sess.Bundle != "" {
		return "bundle " + filepath.Base(sess.Bundle)
	}
	if c := sess.Cluster.Kube.Context; c != "" {
		return "context " + c
	}
	return "live cluster"
}

// source is what is shown, and what keeps it current: it returns when there will be no more judgements.
func source(ctx context.Context, sess *term.Session, f flags) (http.Handler, func() error, error) {
	wait := func() error { <-ctx.Done(); return nil }
	o, done := sess.Options()
	if f.told {
		defer done()
		pages, err := cluster.OpenPages(ctx, o, f.account)
		if err != nil {
			return nil, nil, fmt.Errorf("--from-controller: %w", err)
		}
		return web.Remote(sess.Flags(), func(ctx context.Context, path string, query url.Values) (a web.Answer, err error) {
			a.Status, a.Body, err = pages.Get(ctx, path, query)
			return a, err
		}), wait, nil
	}
	site := &web.Site{State: web.NewState(), Program: sess.Program, Flags: sess.Flags(), Where: where(sess), Live: sess.Bundle == ""}
	if sess.Bundle == "" {
		return site.Handler(), follow(ctx, site, o, audit.Options{Detectors: detect.All, Settle: f.settle}, done), nil
	}
	defer done()
	r, err := sess.Check(ctx, audit.Options{Settle: f.settle}, "", "")
	if err != nil {
		return nil, nil, err
	}
	site.State.Put(r)
	site.Plan = func(_ context.Context, r *audit.Report, chosen []finding.Finding) *repair.Plan {
		return cluster.PlanOf(r, chosen, sess.Cluster.Version, cluster.PlanOptions{})
	}
	return site.Handler(), wait, nil
}

// follow judges the cluster again and again.
func follow(ctx context.Context, site *web.Site, o cluster.Options, judge audit.Options, done func()) func() error {
	progress, notice := o.Progress, o.Notice
	o.Progress = func(name string, rows int, finished bool) {
		site.State.Reading(fmt.Sprintf("%s: %s", name, plain.Count(rows, "row")))
		progress(name, rows, finished)
	}
	o.Notice = func(text string) { site.State.Notice(text); notice(text) }
	logs(o, site)
	site.Repairs = func(ctx context.Context, guid string) web.Repairs { return repairs(cluster.RepairsOf(ctx, o, guid)) }
	var last atomic.Pointer[cluster.Pass]
	site.Plan = func(ctx context.Context, r *audit.Report, chosen []finding.Finding) *repair.Plan {
		return last.Load().Plan(ctx, r, chosen) // there is a page only after a judgement
	}
	w := cluster.Watch{Options: o, Audit: judge, Each: func(p cluster.Pass) {
		done()
		last.Store(&p)
		site.State.Put(p.Report)
	}}
	return func() error { return w.Run(ctx) }
}

// mostChanges is how many entries of an event log a page has.
const mostChanges = 500

// logs lets the site ask agents for what their nodes logged.
func logs(o cluster.Options, site *web.Site) {
	o.Progress, o.Notice = nil, nil // what a page asks for is no news of following
	site.Most = mostChanges
	site.Changes = func(ctx context.Context, node string) (out []web.Change, err error) {
		all, err := cluster.NodeChanges(ctx, o, node, mostChanges)
		for _, c := range all {
			out = append(out, web.Change{At: c.At, What: c.What, Of: c.Of, Name: c.Name, Who: c.Who, Note: c.Note})
		}
		return out, err
	}
	site.TimelinePolicy = render.Policy
	site.Timeline = func(ctx context.Context, w io.Writer, pod string) error {
		log, missing, err := cluster.Logs(ctx, o, cluster.LogQuestion{Pod: pod})
		if err != nil {
			return err
		}
		stories := timeline.Stories(log, []string{pod})
		if len(stories) == 0 {
			return fmt.Errorf("no line of its nodes' logs is about %s", pod)
		}
		files := log.Files()
		if len(missing) > 0 {
			files = append(slices.Clone(files), timeline.File{Name: "logs of the nodes", Left: missing})
		}
		return render.HTML(w, stories[0], render.Options{Files: files})
	}
}
