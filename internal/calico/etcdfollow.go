package calico

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// EtcdFollower reports changes of the Calico datastore in etcd, over a connection of its
// own. A table whose list has no revision is not followed; a resource with a single
// instance is reread at each event.
type EtcdFollower struct{ EtcdOptions }

var _ observe.Follower = EtcdFollower{}

// Tables lists what is followed.
func (EtcdFollower) Tables() []model.Table {
	return append(CRDFollower{}.Tables(), model.Endpoints, model.Hosts)
}

// Follow watches all prefixes concurrently.
func (f EtcdFollower) Follow(ctx context.Context, since map[model.Table]string, tell func([]observe.Change)) error {
	client, err := f.connect()
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if f.Timeout <= 0 {
		f.Timeout = time.Minute
	}
	g := observe.Gather(tell)
	defer g.Flush()
	e := &etcdWatch{client: client, timeout: f.Timeout}
	streams := []func(context.Context) error{observe.UntilEnd}
	for _, k := range keyspaces(g) {
		rev, err := strconv.ParseInt(since[k.table], 10, 64)
		if err != nil {
			continue // not listed
		}
		e.rev = max(e.rev, rev)
		streams = append(streams, func(ctx context.Context) error { return e.follow(ctx, k.root, rev, k.each, clientv3.WithPrefix()) })
	}
	if e.rev > 0 {
		for _, s := range e.singles() {
			streams = append(streams, func(ctx context.Context) error {
				return e.follow(ctx, s.resource, e.rev, func(*clientv3.Event) error { return reread(ctx, g, s) })
			})
		}
		streams = append(streams, e.listen)
	}
	return observe.Together(ctx, streams...)
}

// connect returns a client that notices a dead connection.
func (f EtcdFollower) connect() (*clientv3.Client, error) {
	cfg := clientv3.Config{
		Endpoints: f.Endpoints, DialTimeout: 10 * time.Second, Logger: zap.NewNop(),
		DialKeepAliveTime: 15 * time.Second, DialKeepAliveTimeout: 10 * time.Second, MaxCallRecvMsgSize: 8 * maxObject,
	}
	if f.CACert != "" || f.Cert != "" {
		t, err := f.tls()
		if err != nil {
			return nil, err
		}
		cfg.TLS = t
	}
	c, err := clientv3.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("etcd %v: %w", f.Endpoints, err)
	}
	return c, nil
}

// An etcdWatch follows keys after a revision.
type etcdWatch struct {
	client  *clientv3.Client
	timeout time.Duration
	rev     int64 // of the lists
}

// follow reports the events of a key, or of all below it, until it fails.
func (e *etcdWatch) follow(ctx context.Context, key string, rev int64, each func(*clientv3.Event) error, more ...clientv3.OpOption) error {
	err := observe.Resume(ctx, func(ctx context.Context, opened func()) (heard bool, err error) {
		// A member without a leader would send nothing, as if nothing happened.
		ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
		defer cancel()
		opts := append([]clientv3.OpOption{clientv3.WithRev(rev + 1), clientv3.WithCreatedNotify(), clientv3.WithProgressNotify(), clientv3.WithFragment()}, more...)
		for resp := range e.client.Watch(ctx, key, opts...) {
			if err := resp.Err(); err != nil {
				if resp.CompactRevision != 0 {
					return heard, fmt.Errorf("%w: etcd has compacted up to %d", observe.ErrGone, resp.CompactRevision)
				}
				if strings.Contains(err.Error(), rpctypes.ErrPermissionDenied.Error()) { // only its message is left of the error
					return heard, err
				}
				return heard, &observe.Broken{Err: err}
			}
			if resp.Created {
				opened()
				continue
			}
			for _, ev := range resp.Events {
				if err := each(ev); err != nil {
					return heard, err
				}
				rev = ev.Kv.ModRevision
			}
			if resp.IsProgressNotify() {
				rev = max(rev, resp.Header.Revision)
			}
			heard = true
		}
		return heard, &observe.Broken{Err: errors.New("the watch ended")}
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("watch %s: %w", key, err)
	}
	return err
}

// askEvery is how often etcd is asked whether it answers: its client resumes a watch
// silently.
const askEvery = 10 * time.Second

// listen ends when etcd does not answer for long, or is not the one that was listed: a
// restored etcd counts from an earlier revision, and its events would never come.
func (e *etcdWatch) listen(ctx context.Context) error {
	var cluster uint64
	highest := e.rev
	return observe.Resume(ctx, func(ctx context.Context, _ func()) (bool, error) { // only an answer counts
		for heard := false; ; heard = true {
			short, cancel := context.WithTimeout(ctx, askEvery)
			resp, err := e.client.Get(short, keyCluster, clientv3.WithCountOnly())
			cancel()
			if err != nil {
				return heard, &observe.Broken{Err: fmt.Errorf("etcd: %w", err)}
			}
			if cluster == 0 {
				cluster = resp.Header.ClusterId
			}
			if resp.Header.Revision < highest || resp.Header.ClusterId != cluster {
				return heard, fmt.Errorf("%w: etcd is at revision %d, and was at %d: it was restored", observe.ErrGone, resp.Header.Revision, highest)
			}
			highest = resp.Header.Revision
			if err := observe.Wait(ctx, askEvery); err != nil {
				return heard, err
			}
		}
	})
}
