package load

import (
	"context"

	"plumbline.dev/plumbline/lab"
)

// What etcd accepts in one transaction, by its defaults: 128 operations; and 1.5 MiB, of
// which we leave a margin.
const (
	maxPuts  = 128
	maxBytes = 1 << 20
)

// A batch collects puts until they fill a transaction.
type batch struct {
	stores *stores
	store  *store
	puts   []put
	size   int
}

func (b *batch) add(ctx context.Context, p put) error {
	if len(b.puts) == maxPuts || b.size+p.size() > maxBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.puts = append(b.puts, p)
	b.size += p.size()
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.puts) == 0 {
		return nil
	}
	if _, _, err := b.store.txn(ctx, "", b.puts); err != nil {
		return err
	}
	b.stores.count(b.puts)
	b.puts, b.size = b.puts[:0], 0
	return nil
}

// batches are those of one worker, one per datastore.
type batches struct {
	stores             *stores
	kubernetes, calico batch
}

func (b *batches) add(ctx context.Context, c *cell) error {
	b.kubernetes.stores, b.kubernetes.store = b.stores, b.stores.kubernetes
	b.calico.stores, b.calico.store = b.stores, b.stores.calico
	var kubernetes, calico []put
	var err error
	if c.plan.datastore == lab.Etcd {
		kubernetes, calico, err = etcdObjects(c)
	} else {
		kubernetes, err = kddObjects(c)
	}
	if err != nil {
		return err
	}
	for _, p := range kubernetes {
		if err := b.kubernetes.add(ctx, p); err != nil {
			return err
		}
	}
	for _, p := range calico {
		if err := b.calico.add(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (b *batches) flush(ctx context.Context) error {
	if err := b.kubernetes.flush(ctx); err != nil {
		return err
	}
	return b.calico.flush(ctx)
}
