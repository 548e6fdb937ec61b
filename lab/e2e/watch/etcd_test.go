//go:build e2e

package watch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"plumbline.dev/plumbline/lab"
)

// A store is an etcd, used with plain messages, because the product uses its client
// library.
type store struct{ conn *grpc.ClientConn }

// A place is the address of an etcd and the credentials.
type place struct {
	URL           string
	CA, Cert, Key string // files; empty without TLS
}

// placesOf returns Kubernetes' etcd and Calico's, which may be the same.
func placesOf(l *lab.Lab) (kubernetes, calico place) {
	kubernetes = place{URL: l.KubernetesEtcd()}
	if l.Datastore == lab.KDD {
		return kubernetes, kubernetes
	}
	ca, crt, key := l.EtcdCerts("root")
	return kubernetes, place{l.EtcdEndpoint(), ca, crt, key}
}

func open(p place) (*store, error) {
	_, host, _ := strings.Cut(p.URL, "//")
	creds := insecure.NewCredentials()
	if p.CA != "" {
		conf, err := p.tls()
		if err != nil {
			return nil, err
		}
		creds = credentials.NewTLS(conf)
	}
	c, err := grpc.NewClient(host, grpc.WithTransportCredentials(creds), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{}), grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	return &store{c}, err
}

func (p place) tls() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(p.Cert, p.Key)
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(p.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// raw is a codec that does not change messages.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("%T is not a message", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (raw) Unmarshal(b mem.BufferSlice, v any) error {
	to, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T is not a message", v)
	}
	*to = b.Materialize()
	return nil
}

// A write sets a key to a value; nil deletes it.
type write struct {
	key   string
	value []byte
}

// commit writes all in one transaction, and returns the revision.
func (s *store) commit(ctx context.Context, ws ...write) (revision int64, err error) {
	var req []byte
	for _, w := range ws {
		var op []byte
		if w.value == nil {
			op = field(nil, 3, field(nil, 1, []byte(w.key)))
		} else {
			op = field(nil, 2, field(field(nil, 1, []byte(w.key)), 2, w.value))
		}
		req = field(req, 2, op)
	}
	var answer []byte
	if err := s.conn.Invoke(ctx, "/etcdserverpb.KV/Txn", req, &answer); err != nil {
		return 0, fmt.Errorf("write %s: %w", ws[0].key, err)
	}
	return headed(answer)
}

// below returns all keys with a prefix, and their values.
func (s *store) below(ctx context.Context, prefix string) ([]write, error) {
	end := []byte(prefix)
	end[len(end)-1]++
	return s.read(ctx, field(field(nil, 1, []byte(prefix)), 2, end))
}

// get returns one value; nil if there is none.
func (s *store) get(ctx context.Context, key string) ([]byte, error) {
	all, err := s.read(ctx, field(nil, 1, []byte(key)))
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0].value, nil
}

func (s *store) read(ctx context.Context, req []byte) (out []write, err error) {
	var answer []byte
	if err := s.conn.Invoke(ctx, "/etcdserverpb.KV/Range", req, &answer); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	err = each(answer, func(n protowire.Number, v []byte, _ uint64) {
		if n == 2 {
			kv := keyValue(v)
			out = append(out, write{kv.key, kv.value})
		}
	})
	return out, err
}

type pair struct {
	key      string
	value    []byte
	revision int64
}

func keyValue(b []byte) (p pair) {
	_ = each(b, func(n protowire.Number, v []byte, i uint64) {
		switch n {
		case 1:
			p.key = string(v)
		case 3:
			p.revision = int64(i)
		case 5:
			p.value = v
		default: // leases and versions
		}
	})
	return p
}

func headed(answer []byte) (revision int64, err error) {
	err = each(answer, func(n protowire.Number, v []byte, _ uint64) {
		if n == 1 {
			_ = each(v, func(n protowire.Number, _ []byte, i uint64) {
				if n == 3 {
					revision = int64(i)
				}
			})
		}
	})
	return revision, err
}

func field(to []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, n, protowire.BytesType), v)
}

var errMessage = errors.New("not a message")

// each calls a function for the fields of a message: bytes, or a number.
func each(b []byte, f func(protowire.Number, []byte, uint64)) error {
	for len(b) > 0 {
		n, kind, l := protowire.ConsumeTag(b)
		if l < 0 {
			return errMessage
		}
		b = b[l:]
		switch kind {
		case protowire.BytesType:
			v, l := protowire.ConsumeBytes(b)
			if l < 0 {
				return errMessage
			}
			f(n, v, 0)
			b = b[l:]
		case protowire.VarintType:
			v, l := protowire.ConsumeVarint(b)
			if l < 0 {
				return errMessage
			}
			f(n, nil, v)
			b = b[l:]
		default:
			l := protowire.ConsumeFieldValue(n, kind, b)
			if l < 0 {
				return errMessage
			}
			b = b[l:]
		}
	}
	return nil
}
