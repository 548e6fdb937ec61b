package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// A cluster is where the books are read.
type cluster struct {
	client       *kube.Client
	calicoSource calicoSource
	version      string
	fleet        *fleet // nil if there are no agents
	close        func()
}

// A ledger is Calico's datastore, of either kind.
type calicoSource interface {
	observe.Rereader
	Collectors() []observe.Collector
	// Config gives the collectors of what is small and true of the whole cluster.
	Config() []observe.Collector
}

func (c *cluster) etcd() bool {
	_, yes := c.calicoSource.(*calico.Etcd)
	return yes
}

// connect finds the cluster and where its ledger is.
func (g *global) connect(ctx context.Context) (*cluster, error) {
	client, err := kube.Connect(g.kube)
	if err != nil {
		return nil, err
	}
	c := &cluster{client: client, close: func() {}}
	if c.version, err = client.Version(ctx); err != nil {
		return nil, err
	}
	if err := g.findCalico(ctx, c); err != nil {
		return nil, err
	}
	return c, g.findAgents(ctx, c)
}

func (g *global) findCalico(ctx context.Context, c *cluster) error {
	if g.datastore == "etcd" || (g.datastore == "auto" && len(g.etcd.Endpoints) > 0) {
		if len(g.etcd.Endpoints) == 0 {
			return errors.New("--datastore etcd needs --etcd-endpoints")
		}
		g.etcd.Timeout = g.kube.Timeout
		e, err := calico.OpenEtcd(ctx, g.etcd)
		if err != nil {
			return err
		}
		c.calicoSource, c.close = e, e.Close
		return nil
	}
	if g.datastore != "auto" && g.datastore != "kdd" {
		return fmt.Errorf("--datastore %s: want auto, kdd or etcd", g.datastore)
	}
	crds, err := calico.FindCRDs(ctx, c.client)
	if err != nil {
		return err
	}
	crds.Quick = g.quick
	c.calicoSource = crds
	return nil
}

// source gives all that a whole check reads, the large lists first.
func (c *cluster) source(quick bool) audit.Source {
	src := audit.Source{Kubernetes: kube.Rereader{Client: c.client}, Calico: c.calicoSource, Adjust: c.adjust}
	var cs []observe.Collector
	if c.fleet != nil {
		cs, src.Nodes = append(cs, c.fleet), c.fleet
	}
	cs = append(cs, kube.Pods{Client: c.client, Quick: quick})
	cs = append(cs, c.calicoSource.Collectors()...)
	cs = append(cs, kube.Nodes{Client: c.client}, kube.Services{Client: c.client}, kube.VMs{Client: c.client}, kube.Components{Client: c.client}, kube.Events{Client: c.client})
	src.Collectors = cs
	return src
}

// adjust completes the row about the cluster with what the workloads' settings say.
func (c *cluster) adjust(s *model.Snapshot) {
	for i := range s.Info {
		s.Info[i].Kubernetes = c.version
		for _, w := range s.Components {
			recognise(&s.Info[i], w)
		}
	}
	if c.fleet != nil {
		c.fleet.complete(s)
	}
	s.Meta.Schema = model.Schema
	s.Meta.Version = version()
}

func recognise(info *model.Info, w model.Component) {
	set := w.Settings
	switch {
	case set["ipam"] != "":
		info.IPAM = map[string]string{"Calico": "calico", "HostLocal": "host-local"}[set["ipam"]]
		if info.IPAM == "" {
			info.IPAM = "other"
		}
	case set["USE_POD_CIDR"] == "true":
		info.IPAM = "host-local"
	}
	switch {
	case set["cni"] != "" && set["cni"] != "Calico":
		info.Networking, info.IPAM = "other", "other"
	case set["cni"] == "Calico":
		info.Networking = "calico"
	case set["CALICO_NETWORKING_BACKEND"] == "none":
		info.Networking, info.IPAM = "other", "other"
	}
}

// fromBundle reads the snapshot that --bundle names.
func (g *global) fromBundle() (*model.Snapshot, error) {
	f, err := os.Open(g.bundle)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	s, err := snapshotio.ReadBundle(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", g.bundle, err)
	}
	return s, nil
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
