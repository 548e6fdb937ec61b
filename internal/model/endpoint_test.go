package model

import (
	"slices"
	"testing"
)

func TestEtcdEndpoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want []string }{
		{[]string{"https://etcd1:2379", " https://ETCD1:2379/ ", "http://10.0.0.1"}, []string{"10.0.0.1:2379", "etcd1:2379"}},
		{[]string{"https://root:sEcReT@etcd1:4001/path?x=y"}, []string{"etcd1:4001"}},
		{[]string{"[::1]:2379", "https://[FD00::1]:2379", "::ffff:10.0.0.1"}, []string{"[::1]:2379", "[fd00::1]:2379"}},
		{[]string{"", "://", "https://", "etcd1:port", "https://%zz"}, nil},
	} {
		if got := EtcdEndpoints(c.in); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, not %q", c.in, got, c.want)
		}
	}
}

func FuzzEtcdEndpoints(f *testing.F) {
	f.Add("https://user:pw@etcd1:2379")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range EtcdEndpoints([]string{text}) {
			if again := EtcdEndpoints([]string{e}); !slices.Equal(again, []string{e}) {
				t.Errorf("%q becomes %q, and that %q", text, e, again)
			}
		}
	})
}
