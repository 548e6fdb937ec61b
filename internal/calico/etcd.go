package calico

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// EtcdOptions are the address and credentials of Calico's etcd.
type EtcdOptions struct {
	Endpoints         []string
	CACert, Cert, Key string
	Timeout           time.Duration
}

// Etcd reads the Calico datastore in etcd. Everything in one snapshot has the same
// revision.
type Etcd struct {
	kv      clientv3.KV
	timeout time.Duration
	close   func() error

	endpoints []string
	tls       *tls.Config

	once sync.Once
	rev  int64
	err  error
}

// OpenEtcd connects and reads the revision, so that a wrong address or certificate shows at
// once.
func OpenEtcd(ctx context.Context, o EtcdOptions) (*Etcd, error) {
	cfg := clientv3.Config{Endpoints: o.Endpoints, DialTimeout: 10 * time.Second, Logger: zap.NewNop()}
	if o.CACert != "" || o.Cert != "" {
		t, err := o.tls()
		if err != nil {
			return nil, err
		}
		cfg.TLS = t
	}
	c, err := clientv3.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("etcd %v: %w", o.Endpoints, err)
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	e := &Etcd{kv: c.KV, timeout: o.Timeout, close: c.Close, endpoints: o.Endpoints, tls: cfg.TLS}
	short, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := e.revision(short); err != nil {
		if e.calico2(short) {
			err = errors.Join(err, errCalico2)
		}
		return nil, errors.Join(fmt.Errorf("etcd %v: %w", o.Endpoints, err), c.Close())
	}
	return e, nil
}

func (o EtcdOptions) tls() (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CACert != "" {
		pem, err := os.ReadFile(o.CACert)
		if err != nil {
			return nil, err
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: contains no certificate", o.CACert)
		}
	}
	if o.Cert != "" {
		if _, err := tls.LoadX509KeyPair(o.Cert, o.Key); err != nil {
			return nil, err
		}
		// Read at each handshake: certificates are rotated while the controller runs.
		out.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
			return &pair, err
		}
	}
	return out, nil
}

// Close ends the connection.
func (e *Etcd) Close() { _ = e.close() }

// revision is the revision of the whole snapshot: the first that was read.
func (e *Etcd) revision(ctx context.Context) (int64, error) {
	e.once.Do(func() { e.rev, e.err = e.current(ctx) })
	return e.rev, e.err
}

func (e *Etcd) current(ctx context.Context) (int64, error) {
	resp, err := e.kv.Get(ctx, keyCluster, clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// page is how many keys are read at once.
const page = 2000

// each passes the keys below a prefix, as they were at a revision.
func (e *Etcd) each(ctx context.Context, prefix string, rev int64, f func(key string, value []byte, mod int64) error) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	from, end := prefix, clientv3.GetPrefixRangeEnd(prefix)
	for {
		resp, err := e.kv.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(page), clientv3.WithRev(rev))
		if err != nil {
			return fmt.Errorf("read %s: %w", prefix, err)
		}
		for _, kv := range resp.Kvs {
			if err := f(string(kv.Key), kv.Value, kv.ModRevision); err != nil {
				return err
			}
		}
		if !resp.More || len(resp.Kvs) == 0 {
			return nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// A prefix reads all keys below it into one table.
type prefix[T any] struct {
	*Etcd
	name   string
	roots  []string
	tables []model.Table
	row    func(k *arena, key string, value []byte, rev string) (T, bool, error)
	of     func(*model.Snapshot) *[]T
}

// alone is for small tables.
func alone[T any](row func(string, []byte, string) (T, bool, error)) func(*arena, string, []byte, string) (T, bool, error) {
	return func(_ *arena, key string, value []byte, rev string) (T, bool, error) { return row(key, value, rev) }
}

func (p prefix[T]) Name() string          { return p.name }
func (p prefix[T]) Tables() []model.Table { return p.tables }

func (p prefix[T]) Collect(ctx context.Context, b *model.Builder) (observe.ReadInfo, error) {
	rev, err := p.revision(ctx)
	if err != nil {
		return observe.ReadInfo{}, err
	}
	var out model.Gather[T]
	keep := newArena()
	for _, root := range p.roots {
		err := p.each(ctx, root, rev, func(key string, value []byte, mod int64) error {
			row, ok, err := p.row(keep, key, value, strconv.FormatInt(mod, 10))
			if ok {
				out.Add(row)
			}
			return err
		})
		if err != nil {
			return observe.ReadInfo{}, err
		}
	}
	b.Add(func(s *model.Snapshot) { *p.of(s) = out.Rows() })
	return observe.ReadInfo{Revision: fmt.Sprint(rev), Rows: out.Len()}, nil
}
