//go:build e2e

package gate

import (
	"context"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	ipamdrift "plumbline.dev/plumbline/lab/scenarios/ipam-drift"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	nogateway "plumbline.dev/plumbline/lab/scenarios/no-gateway"
	stalenodename "plumbline.dev/plumbline/lab/scenarios/stale-nodename"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

// TestControlPlaneOnly starts the lab for tests that need an API server and no node: it
// must be ready in seconds, also while two other labs start.
func TestControlPlaneOnly(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) {
			start := time.Now()
			l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: mode})
			took := time.Since(start)
			t.Logf("took %s", took.Round(100*time.Millisecond))
			if took > 90*time.Second { // 5 s where nothing else runs
				t.Errorf("took %s", took)
			}
			var list struct{ Items []struct{} }
			err := l.Get(t.Context(), "/apis/crd.projectcalico.org/v1/ipamblocks", &list)
			if (err == nil) != (mode == lab.KDD) {
				t.Errorf("Calico's CRDs on %s: %v", mode, err)
			}
		})
	}
}

func TestKDD(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 2, Datastore: lab.KDD})
	part(t, "cluster", func(t *testing.T) { cluster(t, l) })
	part(t, "parts of a node", func(t *testing.T) { parts(t, l) })
	part(t, "reader", func(t *testing.T) { reader(t, l) })
	part(t, "probe", func(t *testing.T) { probe(t, l) })
	part(t, "install agents", func(t *testing.T) { product.InstallAgents(t, l) })
	incidents(t, l)
}

func TestEtcd(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 2, Datastore: lab.Etcd})
	part(t, "cluster", func(t *testing.T) { cluster(t, l) })
	part(t, "etcd refuses other users", func(t *testing.T) { etcdRights(t, l) })
	part(t, "reader", func(t *testing.T) { reader(t, l) })
	part(t, "install agents", func(t *testing.T) { product.InstallAgents(t, l) })
	incidents(t, l)
}

// part runs one of the tests that share a lab. After a failed one the rest is not run: it
// would fail because of what that one left behind.
func part(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	if !t.Run(name, test) {
		t.FailNow()
	}
}

// incidents runs a few scenarios, and repairs two of them while requests are sent to
// healthy pods; make e2e-all runs and repairs all of them.
func incidents(t *testing.T, l *lab.Lab) {
	play := func(sc stage.Scenario, look func(t *testing.T) stage.Checker) {
		part(t, sc.Name, func(t *testing.T) {
			o := stage.Options{Tell: func(s string) { t.Log(s) }, Check: look(t), Agents: true}
			if err := stage.Play(t.Context(), l, sc, o); err != nil {
				t.Fatal(err)
			}
		})
	}
	for _, sc := range []stage.Scenario{stalenodename.Scenario, nogateway.Scenario} {
		play(sc, func(t *testing.T) stage.Checker {
			return stage.NewChecker(product.Binary(t), t.TempDir(), 3*time.Second)
		})
	}
	// From here on there are bystander pods, which findings of a whole node would include.
	harm, err := stage.NewHarm(t.Context(), l, func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range []stage.Scenario{latedel.Scenario, ipamdrift.Scenario} {
		play(sc, func(t *testing.T) stage.Checker {
			r := &stage.Repair{Bin: product.Binary(t), State: t.TempDir(), Settle: 3 * time.Second, Harm: harm}
			if sc.Name == "ipam-drift" {
				r.Left = []string{"PL1005/"} // overlapping blocks are not repaired
			}
			return r.Checker()
		})
	}
}

// cluster checks that pods of different nodes can connect, that services work, and that
// Calico's components use their own accounts.
func cluster(t *testing.T, l *lab.Lab) {
	sc := stage.Scenario{Name: "cluster", Run: func(ctx context.Context, s *stage.Stage) error {
		a, err := s.Run(ctx, stage.PodSpec{Name: "a", Node: "node1"})
		if err != nil {
			return err
		}
		b, err := s.Run(ctx, stage.PodSpec{Name: "b", Node: "node2"})
		if err != nil {
			return err
		}
		if err := s.Reaches(ctx, "a", b.Status.PodIP, "b"); err != nil {
			return err
		}
		if err := s.Reaches(ctx, "b", a.Status.PodIP, "a"); err != nil {
			return err
		}
		// The pod does not trust the certificate: an answer, although not a trusted one.
		return lab.Eventually(ctx, time.Minute, func(ctx context.Context) error {
			_, err := s.Kubectl(ctx, "-n", s.Namespace, "exec", "a", "--", "/workload", "get", "https://10.96.0.1/readyz")
			return stage.Expect(err != nil && strings.Contains(err.Error(), "certificate signed by unknown authority"),
				"the kubernetes Service to answer, got %v", err)
		})
	}}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
	who := writers(t, l)
	// With etcd, calico-node asks Kubernetes for the node's address, if anything.
	silent := l.Datastore == lab.Etcd && l.Has(lab.PluginAccount) && !l.Has(lab.AddressInKubernetes)
	for _, account := range []string{"calico-node", "calico-kube-controllers"} {
		if account == "calico-node" && silent {
			continue
		}
		if !who["system:serviceaccount:kube-system:"+account] {
			t.Errorf("no request as %s; requests by: %v", account, who)
		}
	}
	if l.Datastore == lab.KDD && l.Has(lab.PluginAccount) && !who["system:serviceaccount:kube-system:calico-cni-plugin"] {
		t.Errorf("the CNI plugin wrote nothing with its own account; requests by: %v", who)
	}
}

// writers lists the users in the API server's audit log.
func writers(t *testing.T, l *lab.Lab) map[string]bool {
	t.Helper()
	who := map[string]bool{}
	for _, r := range requestsOf(t, l) {
		who[r.User.Username] = true
	}
	return who
}

func etcdRights(t *testing.T, l *lab.Lab) {
	ctx := t.Context()
	if out, err := l.Etcdctl(ctx, "read-only", "get", "--prefix", "--keys-only", "/calico/ipam/"); err != nil || !strings.Contains(out, "/calico/ipam/v2/assignment/") {
		t.Errorf("read-only cannot read: %q, %v", out, err)
	}
	if _, err := l.Etcdctl(ctx, "read-only", "put", "/calico/x", "y"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("read-only may write: %v", err)
	}
	if _, err := l.Etcdctl(ctx, "calico", "put", "/other", "y"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("calico may write outside its prefix: %v", err)
	}
}
