package cluster

import (
	"context"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/kube/probe"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// A Probe is a short-lived pod that reports the state of a node without an agent. Without an
// image none is started.
type Probe struct {
	Image, Namespace string
}

// probes collects node state by one such pod on each node.
type probes struct{ c *Cluster }

const (
	probesAtOnce = 8
	probeWithin  = 90 * time.Second
)

// Name is what progress calls it.
func (probes) Name() string { return "probes" }

// Tables is empty: what was seen is said for each node.
func (probes) Tables() []model.Table { return nil }

// Collect runs one probe on each node that can have one. What an earlier run left behind
// is removed first.
func (p probes) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	var nodes model.Builder
	if _, err := (kube.Nodes{Client: p.c.client}).Collect(ctx, &nodes); err != nil {
		return observe.ReadInfo{}, err // then the nodes are not seen either, and that is said
	}
	prober, err := probe.New(p.c.client)
	if err == nil {
		_, err = prober.RemoveOld(ctx, p.c.o.Probe.Namespace)
	}
	if err != nil {
		var all []string
		for _, n := range nodes.Snapshot().Nodes {
			if expectsAgent(&n) {
				all = append(all, n.Name)
			}
		}
		b.Add(func(s *model.Snapshot) { s.PutFacts(agent.Silent(err.Error(), all...)) })
		return observe.ReadInfo{}, nil
	}
	slots := make(chan struct{}, probesAtOnce)
	var wg sync.WaitGroup
	rows := 0
	for _, n := range nodes.Snapshot().Nodes {
		if !expectsAgent(&n) {
			continue
		}
		rows++
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			s, err := p.ask(ctx, prober, n.Name)
			if err != nil {
				s = agent.Silent(err.Error(), n.Name)
			}
			b.Add(func(all *model.Snapshot) { all.PutFacts(s) })
		})
	}
	wg.Wait()
	return observe.ReadInfo{Rows: rows}, nil
}

func (p probes) ask(ctx context.Context, prober *probe.Prober, node string) (*model.Snapshot, error) {
	said, err := prober.Run(ctx, probe.Probe{Namespace: p.c.o.Probe.Namespace, Image: p.c.o.Probe.Image, Node: node, Deadline: probeWithin})
	if err != nil {
		return nil, err
	}
	c, err := snapshotio.ParseText(said)
	if err != nil {
		return nil, err
	}
	// It has seen nothing become what it is: there are no times to count back.
	out, err := agent.Own(c.Snapshot, node, c.Snapshot.Meta.Taken.Time(), c.Snapshot.Meta.Taken.Time())
	if err == nil {
		agent.Unreported(out, node, "only installed agents follow the kubelet's log")
	}
	return out, err
}

// ProbeImage is the agent's, of a version of Plumbline.
func ProbeImage(version string) string {
	if version == "(devel)" || version == "unknown" {
		version = "dev"
	}
	return "plumbline.dev/plumbline-agent:" + version
}
