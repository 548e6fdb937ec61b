package cluster

import (
	"testing"

	"plumbline.dev/plumbline/internal/calico"
)

// An etcd that only the environment names is never written to; one that flags name is.
func TestToWrite(t *testing.T) {
	t.Parallel()
	named := Options{Etcd: calico.EtcdOptions{Endpoints: []string{"https://a:2379"}, Key: "key"}}
	if got := named.toWrite(); len(got.Etcd.Endpoints) != 1 || got.Etcd.Key != "key" {
		t.Errorf("named by flags: %+v", got.Etcd)
	}
	named.EtcdFromEnv = true
	if got := named.toWrite(); len(got.Etcd.Endpoints) != 0 || got.Etcd.Key != "" || got.EtcdFromEnv {
		t.Errorf("of the environment: %+v", got.Etcd)
	}
}
