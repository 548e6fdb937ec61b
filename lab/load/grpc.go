package load

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// A store is an etcd. The loader sends gRPC itself, which is a POST over HTTP/2: the
// JSON gateway refuses client certificates, which identify users of Calico's etcd, and
// costs time for base64.
type store struct {
	url  string
	http *http.Client
}

// newStore connects to an etcd without TLS, or with the TLS configuration if there is
// one.
func newStore(url string, conf *tls.Config) *store {
	var p http.Protocols
	p.SetHTTP2(conf != nil)
	p.SetUnencryptedHTTP2(conf == nil)
	return &store{url: url, http: &http.Client{Transport: &http.Transport{Protocols: &p, TLSClientConfig: conf}}}
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

var errEtcd = errors.New("etcd refused the request")

// txn writes all puts in one transaction; if absent is not empty, only if that key does
// not exist. It returns the revision and whether it has written.
func (s *store) txn(ctx context.Context, absent string, puts []put) (revision uint64, written bool, err error) {
	var req message
	if absent != "" {
		req.nest(1, func() { // the version of a missing key is 0
			req.text(3, absent)
			req.number(4, 0)
		})
	}
	for _, p := range puts {
		req.nest(2, func() {
			req.nest(2, func() {
				req.text(1, p.key)
				req.bytes(2, p.value)
			})
		})
	}
	answer, err := s.call(ctx, "/etcdserverpb.KV/Txn", req)
	if err != nil {
		return 0, false, fmt.Errorf("write %s and %d more: %w", puts[0].key, len(puts)-1, err)
	}
	return readTxn(answer)
}

func readTxn(b []byte) (revision uint64, written bool, err error) {
	for len(b) > 0 {
		field, n, value, rest, err := readField(b)
		if err != nil {
			return 0, false, fmt.Errorf("read answer of a transaction: %w", err)
		}
		switch field {
		case 1: // the header, whose field 3 is the revision
			for len(value) > 0 {
				var f int
				var v uint64
				if f, v, _, value, err = readField(value); err != nil {
					return 0, false, fmt.Errorf("read header of a transaction: %w", err)
				}
				if f == 3 {
					revision = v
				}
			}
		case 2:
			written = n != 0
		}
		b = rest
	}
	return revision, written, nil
}

// call makes one gRPC call. A message follows five bytes: not compressed, and its
// length. The status comes after it.
func (s *store) call(ctx context.Context, method string, m message) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, txnTimeout)
	defer cancel()
	frame := make([]byte, 5, 5+len(m))
	binary.BigEndian.PutUint32(frame[1:], uint32(len(m)))
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+method, bytes.NewReader(append(frame, m...)))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/grpc")
	q.Header.Set("Te", "trailers")
	r, err := s.http.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	status, text := r.Trailer.Get("Grpc-Status"), r.Trailer.Get("Grpc-Message")
	if status == "" { // a response without a message has its status in the headers
		status, text = r.Header.Get("Grpc-Status"), r.Header.Get("Grpc-Message")
	}
	if status != "0" || len(answer) < len(frame[:5]) {
		return nil, fmt.Errorf("%w: %s, status %q: %s", errEtcd, r.Status, status, text)
	}
	return answer[5:], nil
}
