package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"plumbline.dev/plumbline/lab"
)

// stores are the datastores of a cluster. In KDD mode, both are the same.
type stores struct {
	kubernetes, calico *store
	objects, bytes     atomic.Int64
}

func openStores(l *lab.Lab) (*stores, error) {
	kubernetes, err := openStore(l.KubernetesEtcd(), nil)
	if err != nil {
		return nil, err
	}
	s := &stores{kubernetes: kubernetes, calico: kubernetes}
	if l.Datastore != lab.Etcd {
		return s, nil
	}
	conf, err := clientTLS(l.EtcdCerts("root"))
	if err == nil {
		s.calico, err = openStore(l.EtcdEndpoint(), conf)
	}
	if err != nil {
		return nil, errors.Join(err, kubernetes.client.Close())
	}
	return s, nil
}

func (s *stores) close() {
	_ = s.kubernetes.client.Close()
	if s.calico != s.kubernetes {
		_ = s.calico.client.Close()
	}
}

// fill writes everything and returns the revision of the last write to Kubernetes' etcd.
// The API server is frozen meanwhile: it would watch and use the cores that the writes
// need, and double the time.
func (s *stores) fill(ctx context.Context, l *lab.Lab, p *plan) (revision int64, faults []Fault, err error) {
	if err := l.FreezeAPIServer(ctx); err != nil {
		return 0, nil, fmt.Errorf("freeze the API server: %w", err)
	}
	defer func() {
		if thaw := l.ThawAPIServer(context.WithoutCancel(ctx)); thaw != nil {
			err = errors.Join(err, fmt.Errorf("thaw the API server: %w", thaw))
		}
	}()
	if err := s.begin(ctx, p); err != nil {
		return 0, nil, err
	}
	if faults, err = s.write(ctx, p); err != nil {
		return 0, nil, err
	}
	revision, err = s.finish(ctx, p)
	return revision, faults, err
}

// begin writes the pool, which must not exist, and those of Calico's settings that do
// not exist.
func (s *stores) begin(ctx context.Context, p *plan) error {
	first, err := loadPool().put(p)
	if err != nil {
		return err
	}
	written, err := s.create(ctx, first)
	if err != nil {
		return err
	}
	if !written {
		return fmt.Errorf("pool %s exists: %w", poolName, ErrLoaded)
	}
	config, err := p.ipamConfig()
	if err != nil {
		return err
	}
	puts := []put{config}
	for _, o := range p.settings() {
		one, err := o.put(p)
		if err != nil {
			return err
		}
		puts = append(puts, one)
	}
	for _, one := range puts {
		if _, err := s.create(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// create writes an object of Calico if it does not exist.
func (s *stores) create(ctx context.Context, p put) (bool, error) {
	_, written, err := s.calico.txn(ctx, p.key, []put{p})
	if written {
		s.count([]put{p})
	}
	return written, err
}

func (s *stores) count(puts []put) {
	size := 0
	for _, p := range puts {
		size += p.size()
	}
	s.objects.Add(int64(len(puts)))
	s.bytes.Add(int64(size))
}

// workers is more than the number of cores: each waits for etcd half of its time.
const workers = 4

// write creates the nodes and writes them, and returns the faults in the nodes' order.
func (s *stores) write(ctx context.Context, p *plan) ([]Fault, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := make([][]Fault, len(p.nodes))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			b := &batches{stores: s}
			for i := next.Add(1) - 1; i < int64(len(p.nodes)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				c := p.cell(int(i))
				found[i] = c.faults
				if err := b.add(ctx, c); err != nil {
					cancel(fmt.Errorf("write %s: %w", c.host.name, err))
					return
				}
			}
			if err := b.flush(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var faults []Fault
	for _, f := range found {
		faults = append(faults, f...)
	}
	return faults, nil
}

// finish writes the namespaces, the last one in its own transaction: a cache of the API
// server counts as having a revision as soon as it has the first object of it, so the
// last revision must have only one.
func (s *stores) finish(ctx context.Context, p *plan) (revision int64, err error) {
	puts, err := p.namespaces()
	if err != nil {
		return 0, err
	}
	last := len(puts) - 1
	b := batch{store: s.kubernetes, stores: s}
	for _, one := range puts[:last] {
		if err := b.add(ctx, one); err != nil {
			return 0, err
		}
	}
	if err := b.flush(ctx); err != nil {
		return 0, err
	}
	revision, written, err := s.kubernetes.txn(ctx, "", puts[last:])
	if err == nil && !written {
		err = errors.New("the last namespace was not written")
	}
	s.count(puts[last:])
	return revision, err
}
