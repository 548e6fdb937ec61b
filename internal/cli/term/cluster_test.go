package term

import (
	"io"
	"slices"
	"testing"

	"plumbline.dev/plumbline/internal/cluster"
)

// calicoctl's variables count unless flags say otherwise.
func TestEtcdFromEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{"DATASTORE_TYPE": "etcdv3", "ETCD_ENDPOINTS": "https://a:2379, https://b:2379", "ETCD_CA_CERT_FILE": "ca", "ETCD_CERT_FILE": "crt", "ETCD_KEY_FILE": "key"}
	for name, c := range map[string]struct {
		flags cluster.Options
		drop  string
		want  []string
	}{
		"as calicoctl":       {want: []string{"https://a:2379", "https://b:2379"}},
		"another kind":       {drop: "DATASTORE_TYPE"},
		"asked for":          {flags: cluster.Options{Datastore: "etcd"}, drop: "DATASTORE_TYPE", want: []string{"https://a:2379", "https://b:2379"}},
		"the API server":     {flags: cluster.Options{Datastore: "kdd"}},
		"without a variable": {drop: "ETCD_ENDPOINTS"},
	} {
		s := &Session{Env: Env{Stderr: io.Discard, Getenv: func(k string) string {
			if k == c.drop {
				return ""
			}
			return env[k]
		}}, Cluster: c.flags}
		o, done := s.Options()
		done()
		if !slices.Equal(o.Etcd.Endpoints, c.want) || (o.Etcd.Key == "key") != (c.want != nil) {
			t.Errorf("%s: %+v", name, o.Etcd)
		}
	}
}
