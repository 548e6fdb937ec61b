// Package cluster is a live cluster as the programs see it: it finds Kubernetes, the Calico
// datastore and the agents, reads, checks, follows and repairs through them. The command
// line, the controller and the UI share it. It parses no flags and prints nothing.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Options say which cluster, and how it is read.
type Options struct {
	Kube kube.Options
	Etcd calico.EtcdOptions
	// EtcdFromEnv means that Etcd is that of calicoctl's variables, which may be another cluster's: it
	// is read where the API server has no Calico, and never written to.
	EtcdFromEnv bool
	Datastore   string // auto, kdd or etcd; empty means auto
	Quick       bool   // only metadata of pods and names of handles
	Probe       Probe  // for nodes without agents
	Direct      bool   // agents are asked at the addresses of their nodes, and watched; the API server's proxy is the way round
	StateDir    string // where unconfirmed findings and journals are kept; empty: nowhere
	Version     string // of Plumbline

	Restored []model.Restored // what an earlier run noticed, beside what is kept in StateDir

	Progress func(name string, rows int, done bool) // may be nil
	Notice   func(string)                           // what a person should know and nothing fails by; may be nil

	lineage *lineage // nil: a new one
}

// Errors that only the user can do something about.
var (
	ErrUnreachable = kube.ErrUnreachable
	ErrNoCRDs      = calico.ErrNoCRDs
)

// Contexts are those of the kubeconfig; none if it cannot be read.
func Contexts(o Options) ([]string, error) { return kube.Contexts(o.Kube) }

// Server is the address of the API server; empty if the kubeconfig does not say it.
func Server(o Options) string { return kube.Server(o.Kube) }

// A Cluster is an open one. It is closed by Close.
type Cluster struct {
	o       Options
	client  *kube.Client
	calico  datastore
	version string  // of Kubernetes
	fleet   *fleet  // nil if there are no agents
	direct  *direct // nil if agents are not asked directly, or none was found yet
	close   func()

	tokensMu sync.Mutex
	tokens   map[string]*agentTokens // by account, as NAMESPACE/NAME
	ids      map[string]*identities  // by namespace of the agents

	unauthenticated unauthenticated
}

// A datastore is Calico's, of either kind.
type datastore interface {
	observe.Rereader
	Collectors() []observe.Collector
	// Config gives the collectors of what is small and true of the whole cluster.
	Config() []observe.Collector
}

// Open finds the API server, the Calico datastore and the agents.
func Open(ctx context.Context, o Options) (*Cluster, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	if c.version, err = c.client.Version(ctx); err != nil {
		return nil, err
	}
	return c, c.find(ctx)
}

func connect(o Options) (*Cluster, error) {
	client, err := kube.Connect(o.Kube)
	if err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(string, int, bool) {}
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.lineage == nil {
		o.lineage = newLineage(&o)
	}
	return &Cluster{o: o, client: client, close: func() {}}, nil
}

func (c *Cluster) find(ctx context.Context) error {
	if err := c.findCalico(ctx); err != nil {
		return err
	}
	return c.findAgents(ctx)
}

// Namespace is the one that the kubeconfig's context names.
func Namespace(o Options) string { return kube.Namespace(o.Kube) }

// Close ends the connections that outlive a request.
func (c *Cluster) Close() {
	c.unauthenticated.report(c.o.Notice)
	if c.direct != nil {
		c.direct.Close()
	}
	c.close()
}

// Etcd tells that Calico's records are in etcd.
func (c *Cluster) Etcd() bool {
	_, yes := c.calico.(*calico.Etcd)
	return yes
}

// HasAgents tells that agents run in the cluster.
func (c *Cluster) HasAgents() bool { return c.fleet != nil }

// GUID is the cluster's name for itself.
func (c *Cluster) GUID(ctx context.Context) (string, error) {
	s := observe.Snapshot(ctx, func(string, int, bool) {}, c.calico.Config()...)
	if s.Meta.GUID == "" {
		return "", errors.New("the ClusterInformation of the cluster has no GUID")
	}
	return s.Meta.GUID, nil
}

func (c *Cluster) findCalico(ctx context.Context) error {
	o := &c.o
	if o.Datastore == "etcd" || ((o.Datastore == "auto" || o.Datastore == "") && len(o.Etcd.Endpoints) > 0 && !o.EtcdFromEnv) {
		return c.openEtcd(ctx)
	}
	if o.Datastore != "" && o.Datastore != "auto" && o.Datastore != "kdd" {
		return fmt.Errorf("--datastore %s: want auto, kdd or etcd", o.Datastore)
	}
	crds, err := calico.FindCRDs(ctx, c.client, c.groupInUse)
	if errors.Is(err, ErrNoCRDs) && o.EtcdFromEnv && o.Datastore != "kdd" {
		return c.openEtcd(ctx)
	}
	if err != nil {
		return err
	}
	crds.Quick = o.Quick
	c.calico = crds
	return nil
}

func (c *Cluster) openEtcd(ctx context.Context) error {
	o := &c.o
	if len(o.Etcd.Endpoints) == 0 {
		return errors.New("--datastore etcd needs --etcd-endpoints")
	}
	if o.EtcdFromEnv {
		o.Notice("Calico's etcd is that of ETCD_ENDPOINTS; is it this cluster's?")
	}
	o.Etcd.Timeout = o.Kube.Timeout
	e, err := calico.OpenEtcd(ctx, o.Etcd)
	if err != nil {
		return err
	}
	if err := e.Recognise(ctx); err != nil {
		e.Close()
		return err
	}
	c.calico, c.close = e, e.Close
	return nil
}

// groupInUse asks Calico's workloads which API group they use.
func (c *Cluster) groupInUse(ctx context.Context) (string, error) {
	var b model.Builder
	if _, err := (kube.Components{Client: c.client}).Collect(ctx, &b); err != nil && !errors.Is(err, observe.ErrNotThere) {
		return "", err
	}
	return calico.GroupInUse(b.Snapshot().Components)
}

// Source gives all that a whole check reads, the large lists first.
func (c *Cluster) Source() audit.Source {
	src := audit.Source{Kubernetes: kube.Rereader{Client: c.client}, Calico: c.calico, Adjust: c.adjust}
	var cs []observe.Collector
	switch {
	case c.fleet != nil:
		cs, src.Nodes = append(cs, c.fleet), c.fleet
	case c.o.Probe.Image != "":
		cs = append(cs, probes{c})
	}
	cs = append(cs, kube.Pods{Client: c.client, Quick: c.o.Quick})
	cs = append(cs, c.calico.Collectors()...)
	cs = append(cs, kube.Nodes{Client: c.client}, kube.Services{Client: c.client}, kube.VMs{Client: c.client}, kube.Components{Client: c.client}, kube.Events{Client: c.client})
	src.Collectors = cs
	return src
}

// server tells where the cluster is read from.
func (c *Cluster) server() string {
	if c.client == nil {
		return ""
	}
	return strings.Join(append([]string{c.client.Server()}, c.o.Etcd.Endpoints...), " ")
}

// adjust completes the row about the cluster with the settings of Calico's workloads.
func (c *Cluster) adjust(s *model.Snapshot) {
	for i := range s.Info {
		s.Info[i].Kubernetes = c.version
		for _, w := range s.Components {
			recognise(&s.Info[i], w)
			recogniseVariant(&s.Info[i], w)
		}
	}
	if c.fleet != nil {
		c.fleet.complete(s)
	}
	c.o.lineage.compare(c.server(), s)
	s.Meta.Schema = model.Schema
	s.Meta.Version = c.o.Version
}

func recognise(info *model.Info, w model.Component) {
	set := w.Settings
	switch {
	case set["ipam"] != "":
		info.IPAM = map[string]string{"Calico": "calico", "HostLocal": "host-local"}[set["ipam"]]
		if info.IPAM == "" {
			info.IPAM = "other"
		}
	case set["USE_POD_CIDR"] == "true" || set["ipam-plugin"] == "host-local":
		info.IPAM = "host-local"
	case set["ipam-plugin"] == "calico-ipam":
		info.IPAM = "calico"
	case set["ipam-plugin"] != "":
		info.IPAM = "other"
	}
	switch {
	case set["cni"] != "" && set["cni"] != "Calico":
		info.Networking, info.IPAM = "other", "other"
	case set["cni"] == "Calico" || set["ipam-plugin"] != "": // Calico's own plugin is installed on the nodes
		info.Networking = "calico"
	case set["CALICO_NETWORKING_BACKEND"] == "none":
		info.Networking, info.IPAM = "other", "other"
	}
}

// recogniseVariant finds what the operator installs: Calico Enterprise, or another data plane.
func recogniseVariant(info *model.Info, w model.Component) {
	if v := w.Settings["variant"]; v != "" && v != "Calico" && info.Enterprise == "" {
		info.Enterprise = "unknown"
	}
	if on, err := strconv.ParseBool(w.Settings["FELIX_BPFENABLED"]); err == nil && on {
		info.Dataplane = "bpf"
	}
	if d := w.Settings["dataplane"]; d != "" {
		info.Dataplane = strings.ToLower(d)
	}
}

// Wait lets time pass, unless ctx ends.
func Wait(ctx context.Context, d time.Duration) error { return observe.Wait(ctx, d) }
