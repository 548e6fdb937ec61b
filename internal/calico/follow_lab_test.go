//go:build e2e

package calico

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/tools/clientcmd"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/lab"
)

// TestLabFollow: whatever happens to a Calico datastore in a real API server or a real etcd, and
// however often the connection breaks, what was listed and what was told since is what a
// new list has; and each object's changes are told once, in their order.
func TestLabFollow(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.KDD})
	t.Run("custom resources", func(t *testing.T) { followCRDs(t, l) })
	t.Run("etcd", func(t *testing.T) { followEtcd(t, l) })
}

func followCRDs(t *testing.T, l *lab.Lab) {
	open := func(kubeconfig string) (*kube.Client, *CRDs) {
		client, err := kube.Connect(kube.Options{Kubeconfig: kubeconfig, Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		crds, err := FindCRDs(t.Context(), client, nil)
		if err != nil {
			t.Fatal(err)
		}
		return client, crds
	}
	cfg, err := clientcmd.LoadFromFile(l.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	var proxy *lab.Proxy
	for _, c := range cfg.Clusters {
		u, err := url.Parse(c.Server)
		if err != nil {
			t.Fatal(err)
		}
		proxy = lab.StartProxy(t, u.Host)
		c.TLSServerName, c.Server = u.Hostname(), "https://"+proxy.Addr
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, file); err != nil {
		t.Fatal(err)
	}
	client, crds := open(l.Kubeconfig())
	bent, bentCRDs := open(file)
	s := crdStore(t, l)
	at := "/apis/" + groupV1
	extra := func(n int) {
		name := fmt.Sprint("x", n%3)
		one := func(resource, kind, name, spec string) {
			body := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},"spec":%s}`, groupV1, kind, name, spec)
			if _, err := l.Do(t.Context(), "POST", at+"/"+resource, body); err != nil {
				_, _ = l.Do(t.Context(), "DELETE", at+"/"+resource+"/"+name, "")
			}
		}
		switch n % 4 {
		case 0:
			one("ippools", "IPPool", name, fmt.Sprintf(`{"cidr":"10.%d.0.0/16","blockSize":26}`, n%200))
		case 1:
			one("ipreservations", "IPReservation", name, fmt.Sprintf(`{"reservedCIDRs":["10.0.0.%d"]}`, n%200))
		case 2:
			one("ipamconfigs", "IPAMConfig", "default", fmt.Sprintf(`{"strictAffinity":%t,"autoAllocateBlocks":true}`, n%8 < 4))
		default:
			one("kubecontrollersconfigurations", "KubeControllersConfiguration", "default", fmt.Sprintf(`{"controllers":{"node":{"leakGracePeriod":"%dm"}}}`, n%50))
		}
	}
	lists := func() []observe.Collector { return crds.Collectors() }
	follow(t, watched{
		lists: lists, straight: CRDFollower{crds, client}, rough: CRDFollower{bentCRDs, bent}, proxy: proxy,
		happens: func(n int) { happen(t, s, n, writables); extra(n) },
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := (CRDFollower{crds, client}).Follow(ctx, map[model.Table]string{model.Handles: "1"}, func([]observe.Change) {}); !errors.Is(err, observe.ErrGone) {
		t.Errorf("a revision of long ago: %v", err)
	}
}

func followEtcd(t *testing.T, l *lab.Lab) {
	own := EtcdOptions{Endpoints: []string{l.KubernetesEtcd()}, Timeout: 10 * time.Second}
	proxy := lab.StartProxy(t, strings.TrimPrefix(own.Endpoints[0], "http://"))
	bent := own
	bent.Endpoints = []string{"http://" + proxy.Addr}
	c, err := clientv3.New(clientv3.Config{Endpoints: own.Endpoints})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	extra := func(n int) {
		one := func(key, value string) {
			if _, err := c.Put(t.Context(), key, value); err != nil {
				t.Fatal(err)
			}
			if rand.IntN(3) == 0 {
				if _, err := c.Delete(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
		}
		name := fmt.Sprint("x", n%3)
		switch n % 8 {
		case 0:
			one(keyPools+name, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"cidr":"10.%d.0.0/16"}}`, name, n%200))
		case 1:
			one(keyReservations+name, `{"spec":{"reservedCIDRs":["10.0.0.1"]}}`)
		case 2:
			one(keyNodes+name, fmt.Sprintf(`{"spec":{"ipv4VXLANTunnelAddr":"10.0.0.%d"}}`, n%200))
		case 3:
			one(keyIPAMConfig, fmt.Sprintf(`{"strict_affinity":%t,"auto_allocate_blocks":true}`, n%16 < 8))
		case 4:
			one(keyCollector, fmt.Sprintf(`{"spec":{"controllers":{"node":{"leakGracePeriod":"%dm"}}}}`, n%50))
		case 5:
			one(keyCluster, fmt.Sprintf(`{"spec":{"clusterGUID":"g%d","datastoreReady":true}}`, n))
		case 6:
			one(keyHosts+name+"/ipv4/block/10.1.0.0-26", "") // a confirmed one of long ago
		default:
			one(keyVirtual+"load-balancer/ipv4/block/10.2.0.0-26", `{"state":"confirmed"}`)
			one(keyHosts+name+"/ipv4/other/key", "not of the table")
		}
	}
	lists := func() []observe.Collector {
		e, err := OpenEtcd(t.Context(), own)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		return e.Collectors()
	}
	s := etcdStore(t, own)
	follow(t, watched{
		lists: lists, straight: EtcdFollower{own}, rough: EtcdFollower{bent}, proxy: proxy,
		happens: func(n int) {
			happen(t, s, n, append([]model.Ref{anEnd, {Kind: model.KindBlock, Name: "fd00::40/122"}}, writables...))
			extra(n)
		},
	})

	// What was compacted cannot be told; what etcd never had is another etcd's.
	now, err := c.Get(t.Context(), keyCluster)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compact(t.Context(), now.Header.Revision); err != nil {
		t.Fatal(err)
	}
	for name, rev := range map[string]int64{"compacted": now.Header.Revision - 100, "never was": now.Header.Revision + 1_000_000} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := (EtcdFollower{own}).Follow(ctx, map[model.Table]string{model.Handles: fmt.Sprint(rev)}, func([]observe.Change) {}); !errors.Is(err, observe.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// happen writes or deletes one of the objects.
func happen(t *testing.T, s execute.Store, n int, refs []model.Ref) {
	t.Helper()
	r := refs[rand.IntN(len(refs))]
	o, err := s.Get(t.Context(), r)
	if err == nil && o.There() && rand.IntN(3) == 0 {
		err = s.Delete(t.Context(), o)
	} else if err == nil {
		o.Body = json.RawMessage(version(r, n))
		_, err = s.Put(t.Context(), o)
	}
	if err != nil {
		t.Fatalf("%s: %v", r, err)
	}
}

// watched is a datastore to which things happen while it is followed on two ways.
type watched struct {
	lists           func() []observe.Collector
	straight, rough observe.Follower
	proxy           *lab.Proxy
	happens         func(n int)
}

// connected: whoever was cut off comes back only after a second.
func (w watched) connected(context.Context) error {
	if w.proxy.Open() == 0 {
		return errors.New("nobody is connected through the proxy")
	}
	return nil
}

func follow(t *testing.T, w watched) {
	t.Helper()
	for n := range 60 {
		w.happens(n)
	}
	straight, rough := follows(t, w.lists(), w.straight), follows(t, w.lists(), w.rough)
	for n := range 500 {
		w.happens(n)
		if n%40 == 0 {
			w.proxy.CutAfter(10_000 + rand.Int64N(40_000))
			if err := lab.Eventually(t.Context(), 10*time.Second, w.connected); err != nil {
				t.Fatal(err)
			}
			w.proxy.Cut()
		}
	}
	w.proxy.CutAfter(0)
	w.proxy.Cut()
	for name, m := range map[string]*retold{"straight": straight, "rough": rough} {
		if err := lab.Eventually(t.Context(), 30*time.Second, func(context.Context) error { return m.differs(listed(t, w.lists()).rows) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, m := range []*retold{straight, rough} {
		m.mu.Lock() // it is told nothing more
		defer m.mu.Unlock()
	}
	t.Logf("%d changes in %d tellings; %d cuts, then %d changes in %d tellings", straight.told, straight.tellings, w.proxy.Cuts.Load(), rough.told, rough.tellings)
	kinds := map[model.Kind]int{}
	for r, s := range straight.history {
		kinds[r.Kind] += len(s)
		// What there is one of is read again, when something happened.
		if r != observe.ClusterRef && r != observe.CollectorRef && !reflect.DeepEqual(rough.history[r], s) {
			t.Errorf("%s:\nstraight %v\nrough    %v", r, s, rough.history[r])
		}
	}
	t.Log(kinds)
	if w.proxy.Cuts.Load() < 12 || straight.told < 500 || len(kinds) < 7 {
		t.Errorf("%d cuts and %d changes say little", w.proxy.Cuts.Load(), straight.told)
	}
}
