package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/kube/write"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// connectExecutor gives the executor its stores, the agents that verify and change, and what
// stops it: the kill switch and, but for a dry run, the lease.
func (r *Run) connectExecutor(ctx context.Context) (err error) {
	if r.fleet == nil || r.fleet.without != "" {
		return errors.New("no agent can be asked, and nothing is repaired without live verification: install the agents (docs/agent.md)")
	}
	if err := r.onlyHere(ctx); err != nil {
		return err
	}
	if err := r.trustAgents(ctx); err != nil {
		return err
	}
	if err := r.connectWriter(ctx); err != nil {
		return err
	}
	stop := &write.Switch{Stopped: r.writer.Stop}
	if err := stop.Ask(ctx); err != nil {
		return r.proxied(err)
	}
	halt := stop.Ask
	if !r.o.DryRun {
		if halt, err = r.lease(ctx, stop); err != nil {
			return err
		}
	}
	r.version = &rollout{client: r.client, now: r.fleet.Now}
	pods := write.PodStore{Writer: r.writer, DryRun: r.o.DryRun}
	r.x = &execute.Executor{
		Kube: pods, Pods: pods, Nodes: verifier{r.fleet.Fleet, r.Cluster, r.ids}, NodeWriter: r.nodeWriter(), Etcd: r.Etcd(),
		MaxRisk: r.o.MaxRisk, DryRun: r.o.DryRun, Journal: r.append, Halt: both(halt, r.version.steady), Now: r.fleet.Now, Sleep: observe.Wait, Budget: r.o.Budget, Progress: r.o.Progress, Parallel: gentleAtOnce,
	}
	r.x.Calico, err = r.calicoStore(r.writer, r.o.DryRun)
	return err
}

// onlyHere refuses a cluster with agents in two namespaces: each has a lease of its own, and the
// admission policies fence one of them only. Who may not look elsewhere is not refused; the usual
// namespace is looked at in any case (write.Writer).
func (r *Run) onlyHere(ctx context.Context) error {
	others, err := r.client.AgentsElsewhere(ctx, r.fleet.namespace)
	if errors.Is(err, kube.ErrForbidden) {
		return nil
	}
	if err == nil && len(others) > 0 {
		err = fmt.Errorf("agents run in %s and also in %s, each with a lease and a kill switch of its own: remove one of the installations", r.fleet.namespace, strings.Join(others, ", "))
	}
	return err
}

// both asks the second only if the first has nothing against it.
func both(first, second func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := first(ctx); err != nil {
			return err
		}
		return second(ctx)
	}
}

// lease takes the lease and gives what halts the run when it is lost.
func (r *Run) lease(ctx context.Context, stop *write.Switch) (halt func(context.Context) error, err error) {
	lease, err := r.writer.Acquire(ctx, r.o.Holder)
	if err != nil {
		return nil, err
	}
	r.release = append(r.release, func() {
		short, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = lease.Release(short) // it expires by itself
	})
	return func(ctx context.Context) error {
		if err := lease.Held(); err != nil {
			return err
		}
		return stop.Ask(ctx)
	}, nil
}

// calicoStore is where Calico's records are written.
func (c *Cluster) calicoStore(w *write.Writer, dry bool) (execute.Store, error) {
	switch l := c.calico.(type) {
	case *calico.Etcd:
		s := l.Store()
		s.DryRun = dry
		return s, nil
	case *calico.CRDs:
		s := l.Store(w)
		s.DryRun = dry
		return s, nil
	default:
		return nil, errors.New("this kind of Calico datastore cannot be written")
	}
}

// A verifier is the agents, with every node that there is.
type verifier struct {
	*agent.Fleet
	c   *Cluster
	ids *identities
}

// Published gives the names that Calico used for a node since it booted, as its agent published
// them and the kubelet reports the boot.
func (n verifier) Published(ctx context.Context, node string) ([]string, bool) {
	b, _, err := n.c.client.Get(ctx, "/api/v1/nodes/"+url.PathEscape(node))
	if err != nil {
		return nil, false
	}
	o, err := kube.ParseNode(b)
	if err != nil || o.Name != node {
		return nil, false
	}
	return n.ids.names(ctx, node, o.BootID)
}

// Names lists every node that could use an address, live.
func (n verifier) Names(ctx context.Context) ([]string, error) {
	var b model.Builder
	if _, err := (kube.Nodes{Client: n.c.client}).Collect(ctx, &b); err != nil {
		return nil, err
	}
	s := b.Snapshot()
	var out []string
	for i := range s.Nodes {
		if expectsAgent(&s.Nodes[i]) {
			out = append(out, s.Nodes[i].Name)
		}
	}
	return out, nil
}
