package calico

import (
	"context"
	"sync"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// singles are read through the quorum, at the current revision.
func (e *etcdWatch) singles() []single {
	var turn sync.Mutex
	return []single{
		{&turn, keyCluster, etcdNow{e, func(n *Etcd) observe.Collector { return etcdCluster{n} }}, infoChange},
		{&turn, keyIPAMConfig, etcdNow{e, func(n *Etcd) observe.Collector { return etcdCluster{n} }}, infoChange},
		{&turn, keyCollector, etcdNow{e, func(n *Etcd) observe.Collector { return etcdCollector{n} }}, collectorChange},
	}
}

// etcdNow collects at the current revision instead of the snapshot's.
type etcdNow struct {
	e  *etcdWatch
	of func(*Etcd) observe.Collector
}

func (n etcdNow) now() observe.Collector {
	return n.of(&Etcd{kv: n.e.client.KV, timeout: n.e.timeout, close: func() error { return nil }})
}

func (n etcdNow) Name() string          { return n.now().Name() }
func (n etcdNow) Tables() []model.Table { return n.now().Tables() }

func (n etcdNow) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	return n.now().Collect(ctx, b)
}
