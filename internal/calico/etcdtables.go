package calico

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Collectors returns one per table.
func (e *Etcd) Collectors() []observe.Collector {
	return append([]observe.Collector{ // the largest first
		prefix[model.Endpoint]{e, "endpoints", []string{keyEndpoints}, []model.Table{model.Endpoints}, (*arena).etcdEndpoint, func(s *model.Snapshot) *[]model.Endpoint { return &s.Endpoints }},
		prefix[model.Handle]{e, "handles", []string{keyHandles}, []model.Table{model.Handles, model.HandleCounts}, (*arena).etcdHandle, func(s *model.Snapshot) *[]model.Handle { return &s.Handles }},
		prefix[model.Block]{e, "blocks", []string{keyBlocks4, keyBlocks6}, []model.Table{model.Blocks}, (*arena).etcdBlock, func(s *model.Snapshot) *[]model.Block { return &s.Blocks }},
		prefix[model.Affinity]{e, "affinities", []string{keyHosts, keyVirtual}, []model.Table{model.Affinities}, alone(etcdAffinity), func(s *model.Snapshot) *[]model.Affinity { return &s.Affinities }},
		prefix[model.Reservation]{e, "reservations", []string{keyReservations}, []model.Table{model.Reservations}, alone(etcdReservation), func(s *model.Snapshot) *[]model.Reservation { return &s.Reservations }},
	}, e.Config()...)
}

// Config returns the collectors of small, cluster-wide configuration.
func (e *Etcd) Config() []observe.Collector {
	return []observe.Collector{
		prefix[model.Pool]{e, "pools", []string{keyPools}, []model.Table{model.Pools}, alone(etcdPool), func(s *model.Snapshot) *[]model.Pool { return &s.Pools }},
		prefix[model.Host]{e, "hosts", []string{keyNodes}, []model.Table{model.Hosts}, alone(etcdHost), func(s *model.Snapshot) *[]model.Host { return &s.Hosts }},
		etcdCluster{e},
		etcdCollector{e},
	}
}

type etcdCluster struct{ *Etcd }

func (etcdCluster) Name() string          { return "cluster" }
func (etcdCluster) Tables() []model.Table { return []model.Table{model.Cluster} }

func (c etcdCluster) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	cluster, rev, err := c.value(ctx, keyCluster)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	config, _, err := c.value(ctx, keyIPAMConfig)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	felix, _, err := c.value(ctx, keyFelix)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	info, err := etcdInfo(cluster, config, felix, rev)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) {
		s.Info = append(s.Info, info)
		s.Meta.GUID, s.Meta.Endpoints = info.GUID, model.EtcdEndpoints(c.endpoints)
	})
	return observe.ReadInfo{Revision: rev, Rows: 1}, nil
}

type etcdCollector struct{ *Etcd }

func (etcdCollector) Name() string          { return "collector" }
func (etcdCollector) Tables() []model.Table { return []model.Table{model.Collector} }

func (c etcdCollector) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	raw, rev, err := c.value(ctx, keyCollector)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	if raw == nil {
		return observe.ReadInfo{}, observe.ErrNotThere
	}
	o, err := parseObject("kubecontrollersconfiguration", raw)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	row, err := collectorRow(o.Spec)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	b.Add(func(s *model.Snapshot) { s.Collector = append(s.Collector, row) })
	return observe.ReadInfo{Revision: rev, Rows: 1}, nil
}

// value reads one key at the snapshot's revision; nil if there is none.
func (e *Etcd) value(ctx context.Context, key string) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	rev, err := e.revision(ctx)
	if err != nil {
		return nil, "", err
	}
	resp, err := e.kv.Get(ctx, key, clientv3.WithRev(rev))
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", key, err)
	}
	if len(resp.Kvs) == 0 {
		return nil, "", nil
	}
	return resp.Kvs[0].Value, fmt.Sprint(resp.Kvs[0].ModRevision), nil
}

// Reread rereads keys, all at one new revision.
func (e *Etcd) Reread(ctx context.Context, refs []model.Ref) (observe.Reread, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	var out observe.Reread
	rev, err := e.current(ctx)
	if err != nil {
		return out, err
	}
	err = observe.Each(refs, func(r model.Ref, lock sync.Locker) error {
		key, add := e.keyOf(r, &out.Rows)
		if key == "" {
			return nil
		}
		resp, err := e.kv.Get(ctx, key, clientv3.WithRev(rev))
		if err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		out.Read = append(out.Read, r)
		for _, kv := range resp.Kvs {
			if err := add(string(kv.Key), kv.Value, fmt.Sprint(kv.ModRevision)); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

type adder func(key string, value []byte, rev string) error

func adding[T any](rows *[]T, row func(string, []byte, string) (T, bool, error)) adder {
	return func(key string, value []byte, rev string) error {
		r, ok, err := row(key, value, rev)
		if ok {
			*rows = append(*rows, r)
		}
		return err
	}
}

// keyOf returns the key of an object, and the table that it goes into.
func (e *Etcd) keyOf(r model.Ref, s *model.Snapshot) (string, adder) {
	switch r.Kind {
	case model.KindBlock:
		if p, err := netip.ParsePrefix(r.Name); err == nil {
			root := map[bool]string{true: keyBlocks4, false: keyBlocks6}[p.Addr().Is4()]
			return root + keyRange(p), adding(&s.Blocks, etcdBlock)
		}
	case model.KindHandle:
		return keyHandles + r.Name, adding(&s.Handles, etcdHandle)
	case model.KindAffinity:
		node, cidr, _ := strings.Cut(r.Name, "/")
		if p, err := netip.ParsePrefix(cidr); err == nil {
			family := map[bool]string{true: "ipv4", false: "ipv6"}[p.Addr().Is4()]
			return keyHosts + node + "/" + family + "/block/" + keyRange(p), adding(&s.Affinities, etcdAffinity)
		}
	case model.KindEndpoint:
		return keyEndpoints + r.Name, adding(&s.Endpoints, etcdEndpoint)
	default:
	}
	return "", nil
}

// keyRange is the form of a CIDR in a key.
func keyRange(p netip.Prefix) string { return fmt.Sprintf("%s-%d", p.Addr(), p.Bits()) }
