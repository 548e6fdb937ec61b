package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// A store is an etcd.
type store struct{ client *clientv3.Client }

// openStore connects to an etcd without TLS, or with the TLS configuration if there is
// one.
func openStore(url string, conf *tls.Config) (*store, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, TLS: conf, Logger: zap.NewNop()})
	if err != nil {
		return nil, fmt.Errorf("etcd %s: %w", url, err)
	}
	return &store{c}, nil
}

func clientTLS(ca, cert, key string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate for Calico's etcd: %w", err)
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("read the CA of Calico's etcd: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// A put is a key and its new value.
type put struct {
	key   string
	value []byte
}

func (p put) size() int { return len(p.key) + len(p.value) }

// txnTimeout is for one transaction, of at most a megabyte.
const txnTimeout = time.Minute

// txn writes all puts in one transaction; if absent is not empty, only if that key does
// not exist. It returns the revision and whether it has written.
func (s *store) txn(ctx context.Context, absent string, puts []put) (revision int64, written bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, txnTimeout)
	defer cancel()
	txn := s.client.Txn(ctx)
	if absent != "" { // the version of a missing key is 0
		txn = txn.If(clientv3.Compare(clientv3.Version(absent), "=", 0))
	}
	ops := make([]clientv3.Op, len(puts))
	for i, p := range puts {
		ops[i] = clientv3.OpPut(p.key, string(p.value))
	}
	answer, err := txn.Then(ops...).Commit()
	if err != nil {
		return 0, false, fmt.Errorf("write %s and %d more: %w", puts[0].key, len(puts)-1, err)
	}
	return answer.Header.Revision, answer.Succeeded, nil
}
