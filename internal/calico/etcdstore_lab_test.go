//go:build e2e

package calico

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
)

func etcdStore(t *testing.T, o EtcdOptions) *EtcdStore {
	t.Helper()
	e, err := OpenEtcd(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e.Store()
}

// TestLabEtcdStore writes into an etcd like Calico's own, with its users.
func TestLabEtcdStore(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.Etcd})
	ctx := t.Context()
	as := func(user string) EtcdOptions {
		ca, crt, key := l.EtcdCerts(user)
		return EtcdOptions{Endpoints: []string{l.EtcdEndpoint()}, CACert: ca, Cert: crt, Key: key, Timeout: 5 * time.Second}
	}
	s, by := etcdStore(t, as("calico")), etcdStore(t, as("calico"))
	contract(t, s, by, append(writables, anEnd))
	careful := etcdStore(t, as("calico"))
	careful.DryRun = true
	dry(t, s, careful, anEnd)

	// Where Calico itself would look, and as it was written.
	for r, key := range map[model.Ref]string{
		aBlock: "/calico/ipam/v2/assignment/ipv4/block/10.250.0.0-30", aHandle: "/calico/ipam/v2/handle/Net.C1",
		anAffine: "/calico/ipam/v2/host/w1/ipv4/block/10.250.0.0-30",
		anEnd:    "/calico/resources/v3/projectcalico.org/workloadendpoints/default/w1-k8s-a-eth0",
		{Kind: model.KindBlock, Name: "fd00::40/122"}: "/calico/ipam/v2/assignment/ipv6/block/fd00::40-122",
	} {
		if _, err := s.Put(ctx, model.Object{Ref: r, Body: version(r, 7)}); err != nil {
			t.Fatal(err)
		}
		out, err := l.Etcdctl(ctx, "read-only", "get", "--print-value-only", key)
		if err != nil || strings.TrimSpace(out) != string(version(r, 7)) {
			t.Errorf("%s: %s, %v", key, out, err)
		}
	}
	// An empty affinity is a confirmed one of long ago.
	empty := model.Ref{Kind: model.KindAffinity, Name: "w9/10.250.0.0/30"}
	if _, err := l.Etcdctl(ctx, "calico", "put", "/calico/ipam/v2/host/w9/ipv4/block/10.250.0.0-30", ""); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(ctx, empty); err != nil || !got.There() || string(got.Body) != "{}" {
		t.Errorf("%+v, %v", got, err)
	}
	reader := etcdStore(t, as("read-only"))
	block, err := reader.Get(ctx, aBlock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Put(ctx, block); !errors.Is(err, execute.ErrRefused) {
		t.Errorf("without the right: %v", err)
	}
	if err := reader.Delete(ctx, block); !errors.Is(err, execute.ErrRefused) {
		t.Errorf("without the right: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, time.Microsecond)
	defer cancel()
	if _, err := s.Put(short, block); err == nil || errors.Is(err, execute.ErrStale) || errors.Is(err, execute.ErrRefused) {
		t.Errorf("no answer: %v", err)
	}
}
