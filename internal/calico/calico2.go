package calico

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// errCalico2 means that the datastore is that of Calico 2, whose records are keys of etcd's API
// version 2. Nothing of it is visible in version 3.
var errCalico2 = errors.New("the records are those of Calico 2, in etcd's API version 2: only timeline --logs works with it")

// errNoRecords means that an etcd has no record of Calico: it belongs to somebody else.
var errNoRecords = errors.New("it has no key below /calico/: is it the etcd of Calico?")

const calico2Key = "/v2/keys/calico/v1"

// Recognise returns why an etcd has no records of Calico 3; nil if it has, or that cannot be read.
func (e *Etcd) Recognise(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if resp, err := e.kv.Get(ctx, keyCluster, clientv3.WithCountOnly()); err == nil && resp.Count > 0 {
		return nil
	}
	resp, err := e.kv.Get(ctx, "/calico/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	switch {
	case err != nil || resp.Count > 0:
		return nil //nolint:nilerr // who may not read that may still read all that is needed
	case e.calico2(ctx):
		return fmt.Errorf("etcd %v: %w", e.endpoints, errCalico2)
	default:
		return fmt.Errorf("etcd %v: %w", e.endpoints, errNoRecords)
	}
}

// calico2 reports whether an endpoint has the keys of Calico 2.
func (e *Etcd) calico2(ctx context.Context) bool {
	return slices.ContainsFunc(e.endpoints, func(at string) bool { return calico2At(ctx, at, e.tls) })
}

// calico2At reports whether an endpoint has the keys of Calico 2.
func calico2At(ctx context.Context, endpoint string, t *tls.Config) bool {
	if !strings.Contains(endpoint, "://") {
		scheme := "http://"
		if t != nil {
			scheme = "https://"
		}
		endpoint = scheme + endpoint
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(endpoint, "/")+calico2Key, http.NoBody)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: t, DisableKeepAlives: true}}
	resp, err := client.Do(q)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct {
		Node struct {
			Key string `json:"key"`
		} `json:"node"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&said)
	return err == nil && resp.StatusCode == http.StatusOK && strings.HasPrefix(said.Node.Key, "/calico")
}
