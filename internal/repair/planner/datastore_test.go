package planner_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// A site is a cluster of three nodes, each with two sandboxes, and an etcd.
type site struct {
	recorded   int // of the six sandboxes that run
	others     int // handles of containers that do not run here
	endpoints  []string
	configured map[string][]string // by node; n1 to n3
	datastore  string              // of the CNI configuration
	read       string              // datastore that was read
	strangers  int                 // nodes with another address in Calico than their interfaces have
	empty      bool                // no sandbox runs
}

func (c *site) view() *model.View {
	id := func(kind string, n int) string { return fmt.Sprintf("%s%058x", kind, n) }
	s := &model.Snapshot{NodeState: map[string]*model.NodeState{}}
	s.Info, s.Meta.Endpoints = []model.Info{{Datastore: c.read, Ready: true}}, c.endpoints
	for n := range 3 {
		name, ip := fmt.Sprintf("n%d", n+1), netip.AddrFrom4([4]byte{192, 168, 0, byte(n + 1)})
		has := ip
		if n < c.strangers {
			has = netip.AddrFrom4([4]byte{10, 1, 1, byte(n + 1)})
		}
		s.Nodes = append(s.Nodes, model.Node{Name: name, Ready: true, Addresses: []netip.Addr{ip}, CalicoIPs: []netip.Addr{has}})
		f := &model.NodeState{
			Links:      []model.Link{{Index: 2, Name: "eth0", IPs: []netip.Prefix{netip.PrefixFrom(ip, 24)}}},
			CNIConfigs: []model.CNIConfig{{File: "10-calico.conflist", Loaded: true, Plugins: []string{"calico"}, Datastore: c.datastore, Endpoints: c.configured[name]}},
		}
		for i := range 2 {
			if c.empty {
				continue
			}
			box := id("aaaaaa", 2*n+i)
			f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: box, Namespace: "shop", Pod: box[58:], UID: box[:32], Ready: true, Inode: uint64(2*n + i + 1)})
			if 2*n+i < c.recorded {
				s.Handles = append(s.Handles, model.Handle{ID: "k8s-pod-network." + box, Name: "k8s-pod-network." + box})
			}
		}
		f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: id("cccccc", n), HostNetwork: true, Ready: true}, model.Sandbox{ID: id("dddddd", n)})
		s.NodeState[name] = f
		for _, t := range model.FactTables() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: name, State: model.Complete})
		}
	}
	for i := range c.others {
		s.Handles = append(s.Handles, model.Handle{ID: "k8s-pod-network." + id("bbbbbb", i), Name: "k8s-pod-network." + id("bbbbbb", i)})
	}
	return model.Seal(s)
}

// Nothing is written to an etcd unless it is proven to be this cluster's.
func TestRefusedDatastore(t *testing.T) {
	t.Parallel()
	ours := []string{"etcd1:2379", "etcd2:2379"}
	all := func(e ...string) map[string][]string { return map[string][]string{"n1": e, "n2": e, "n3": e} }
	for name, c := range map[string]struct {
		site
		want string
	}{
		"all sandboxes are recorded":            {site{recorded: 6}, ""},
		"half of them, and leaks":               {site{recorded: 3, others: 50}, ""},
		"fewer, and nothing else is known":      {site{recorded: 2, others: 50}, "2 of 6 sandboxes"},
		"none: another cluster's":               {site{others: 50}, "none of the 6 sandboxes"},
		"none, and it is empty":                 {site{}, "0 of 6 sandboxes"},
		"restored: the nodes use it":            {site{recorded: 1, others: 50, endpoints: ours, configured: all("etcd2:2379")}, ""},
		"empty: the nodes use it":               {site{endpoints: ours, configured: all("etcd2:2379")}, ""},
		"another's at the same endpoint":        {site{others: 50, endpoints: []string{"127.0.0.1:2379"}, configured: all("127.0.0.1:2379")}, "none of the 6 sandboxes"},
		"restored, one node uses another":       {site{recorded: 1, others: 50, endpoints: ours, configured: map[string][]string{"n1": {"etcd1:2379"}, "n2": {"etcd9:2379"}}}, "1 of 6 sandboxes"},
		"restored, of nodes elsewhere":          {site{recorded: 1, others: 50, endpoints: ours, configured: all("etcd1:2379"), strangers: 2}, "1 of 6 sandboxes"},
		"a stale copy":                          {site{recorded: 4, endpoints: []string{"old:2379"}, configured: all("etcd1:2379")}, "4 of 6 sandboxes"},
		"by a tunnel: other endpoints":          {site{recorded: 6, endpoints: []string{"localhost:12379"}, configured: all("etcd1:2379")}, ""},
		"no sandbox runs":                       {site{empty: true, others: 3}, "no sandbox that runs was read"},
		"no sandbox runs, and the nodes use it": {site{empty: true, endpoints: ours, configured: all("etcd1:2379")}, ""},
		"the nodes use Kubernetes":              {site{recorded: 6, datastore: "kdd"}, "n1 uses the Kubernetes API as Calico's datastore, and an etcd was read"},
		"custom resources":                      {site{read: "kdd", others: 50, datastore: "kdd"}, ""},
		"custom resources, without a word":      {site{read: "kdd", others: 50}, ""},
		"custom resources that nobody uses":     {site{read: "kdd", datastore: "etcd"}, "n1 uses an etcd as Calico's datastore, and the Kubernetes API was read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.read == "" {
				c.read = "etcd"
			}
			if c.datastore == "" && c.read == "etcd" {
				c.datastore = "etcd"
			}
			no := planner.RefusedDatastore(c.view())
			if (no == nil) != (c.want == "") || no != nil && !strings.Contains(no.Why, c.want) {
				t.Errorf("%+v", no)
			}
		})
	}
}
