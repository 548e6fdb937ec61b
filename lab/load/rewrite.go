package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"plumbline.dev/plumbline/lab"
)

// rewritten are so many stored pods, which is enough that none is written twice within a few seconds.
const rewritten = 5000

// Rewrite writes stored pods again, so many each second, until ctx ends: each is a change for every watch, and costs the
// API server less than a request. It returns how many were written.
func Rewrite(ctx context.Context, l *lab.Lab, each int) (int, error) {
	s, err := openStores(l)
	if err != nil {
		return 0, err
	}
	defer s.close()
	const pods = "/registry/pods/"
	got, err := s.kubernetes.client.Get(ctx, pods, clientv3.WithRange(clientv3.GetPrefixRangeEnd(pods)), clientv3.WithLimit(rewritten))
	if err != nil {
		return 0, fmt.Errorf("read pods: %w", err)
	}
	if len(got.Kvs) == 0 || each <= 0 {
		<-ctx.Done()
		return 0, nil
	}
	tick := time.NewTicker(time.Second / time.Duration(each))
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return n, nil
		case <-tick.C:
		}
		kv := got.Kvs[rand.IntN(len(got.Kvs))]
		if _, _, err := s.kubernetes.txn(ctx, "", []put{{string(kv.Key), kv.Value}}); err != nil && ctx.Err() == nil {
			return n, err
		}
	}
}
