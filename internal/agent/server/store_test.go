package server

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

var start = time.Unix(1_800_000_000, 0)

func rowAge(tables ...model.Table) []model.Coverage {
	var out []model.Coverage
	for _, t := range tables {
		out = append(out, model.Coverage{Table: t, State: model.Complete})
	}
	return out
}

// A row keeps the moment at which it became what it is, until it becomes something else.
func TestSinceIsOfTheLastChange(t *testing.T) {
	t.Parallel()
	var told []string
	s := newStore("n1", "v", func(e change) { told = append(told, e.What+" "+e.Of+" "+e.Name) })
	ip := netip.MustParseAddr("10.0.0.1")
	put := func(after int, state, mac string, link int) {
		f := &model.NodeState{
			Neighbours: []model.Neighbour{{IP: ip, MAC: mac, Link: 7, State: state}},
			Links:      []model.Link{{Index: link, Name: "cali1"}},
		}
		s.put(f, rowAge(model.Neighbours, model.Links), start, start.Add(time.Duration(after)*time.Second))
	}
	since := func() (model.Time, model.Time) {
		f := s.snapshot(start.Add(time.Minute)).NodeState["n1"]
		return f.Neighbours[0].Since - model.At(start), f.Links[0].Since - model.At(start)
	}
	put(0, "REACHABLE", "aa", 7)
	put(10, "STALE", "aa", 7) // the kernel's own doing
	if n, l := since(); n != 0 || l != 0 || len(told) != 0 {
		t.Errorf("since %d and %d, told %v", n, l, told)
	}
	put(20, "STALE", "bb", 7)
	put(30, "PERMANENT", "bb", 8)
	put(40, "PERMANENT", "bb", 8)
	n, l := since()
	want := []string{"changed neighbours 10.0.0.1 7 false", "changed neighbours 10.0.0.1 7 false", "new links 8", "gone links 7"}
	slices.Sort(told[2:])
	slices.Sort(want[2:])
	if n != 30 || l != 30 || !slices.Equal(told, want) {
		t.Errorf("since %d and %d, told %q", n, l, told)
	}
}

// Half a table is no table: what was known stays, and is not handed out as if it were true.
func TestPartialIsNotWhole(t *testing.T) {
	t.Parallel()
	told := 0
	s := newStore("n1", "v", func(change) { told++ })
	two := &model.NodeState{Links: []model.Link{{Index: 1}, {Index: 2}}}
	s.put(two, rowAge(model.Links), start, start)
	s.put(&model.NodeState{Links: []model.Link{{Index: 1}}}, []model.Coverage{{Table: model.Links, State: model.Partial, Reason: "interrupted"}}, start, start.Add(time.Second))
	snap := s.snapshot(start.Add(2 * time.Second))
	if len(snap.NodeState["n1"].Links) != 0 || told != 0 {
		t.Errorf("%v, told %d", snap.NodeState["n1"].Links, told)
	}
	for _, c := range snap.Coverage {
		if c.Node != "n1" || c.Table == model.Links && (c.State != model.Partial || c.Reason != "interrupted") || c.Table == model.Routes && c.State != model.Lost {
			t.Errorf("%+v", c)
		}
	}
	s.put(two, rowAge(model.Links), start, start.Add(3*time.Second))
	if f := s.snapshot(start.Add(4 * time.Second)).NodeState["n1"]; len(f.Links) != 2 || f.Links[0].Since != model.At(start) || told != 0 {
		t.Errorf("%+v, told %d", f.Links, told)
	}
}

// What was not watched for long may have been something else in between.
func TestBlindnessEndsAges(t *testing.T) {
	t.Parallel()
	s := newStore("n1", "v", func(change) {})
	put := func(at time.Duration) model.Time {
		s.put(&model.NodeState{Links: []model.Link{{Index: 1}}}, rowAge(model.Links), start, start.Add(at))
		return s.snapshot(start.Add(at)).NodeState["n1"].Links[0].Since - model.At(start)
	}
	put(0)
	if got := put(time.Minute); got != 0 {
		t.Errorf("watched: since %d", got)
	}
	if got := put(time.Hour); got != 3600 {
		t.Errorf("not watched for an hour: since %d", got)
	}
}

// A silent runtime does not make the agent forget whose namespace is whose.
func TestAttachmentsAreJoinedByInode(t *testing.T) {
	t.Parallel()
	s := newStore("n1", "v", func(change) {})
	s.put(&model.NodeState{
		Sandboxes:   []model.Sandbox{{ID: "a", Inode: 5}, {ID: "host", Inode: 9, HostNetwork: true}, {ID: "gone"}},
		Attachments: []model.Attachment{{Inode: 5, Device: "eth0"}, {Inode: 6, Device: "eth0"}, {Inode: 9}},
	}, rowAge(model.Sandboxes, model.Attachments), start, start)
	s.put(&model.NodeState{}, []model.Coverage{{Table: model.Sandboxes, State: model.Lost, Reason: "frozen"}}, start, start)
	f := s.snapshot(start).NodeState["n1"]
	if len(f.Sandboxes) != 0 || f.Attachments[0].Sandbox != "a" || f.Attachments[1].Sandbox != "" || f.Attachments[2].Sandbox != "" {
		t.Errorf("%+v", f.Attachments)
	}
}

// full is a node with 250 pods.
func full() *model.NodeState {
	f := &model.NodeState{Machines: []model.Machine{{BootID: "b", NodeName: "n1"}}}
	for i := range 250 {
		id := strings.Repeat(fmt.Sprintf("%04x", i), 16)
		ip := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		p := netip.PrefixFrom(ip, 32)
		f.Links = append(f.Links, model.Link{Index: i + 10, Name: fmt.Sprintf("cali%011x", i), Kind: "veth", Up: true, Peer: 3, PeerNS: uint64(4026532000 + i)})
		f.Routes = append(f.Routes, model.Route{Dst: p, Link: i + 10, Table: 254, Protocol: 3, Scope: "link"})
		f.Paths = append(f.Paths, model.Path{IP: ip, Link: i + 10, Table: 254})
		f.Sandboxes = append(f.Sandboxes, model.Sandbox{ID: id, Namespace: "shop", Pod: fmt.Sprintf("web-%d", i), UID: id[:32], Ready: true, Inode: uint64(4026532000 + i)})
		f.Containers = append(f.Containers, model.Container{ID: "c" + id[1:], Sandbox: id, Name: "web", State: "running"})
		f.Attachments = append(f.Attachments, model.Attachment{NetNS: "/run/netns/cni-" + id[:12], Inode: uint64(4026532000 + i), Device: "eth0", Index: 3, Peer: i + 10, IPs: []netip.Prefix{p}, Up: true})
		f.CNIResults = append(f.CNIResults, model.CNIResult{Network: "k8s-pod-network", Container: id, Interface: "eth0", IPs: []netip.Prefix{p}})
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: ip, Link: i + 10, State: "STALE"})
		for _, k := range []string{"proxy_arp", "forwarding", "rp_filter"} {
			f.Sysctls = append(f.Sysctls, model.Sysctl{Device: fmt.Sprintf("cali%011x", i), Key: k, Value: "1"})
		}
	}
	return f
}

func TestDigestIsSmall(t *testing.T) {
	t.Parallel()
	s := newStore("n1", "v0.4.0", func(change) {})
	s.put(full(), rowAge(model.FactTables()...), start, start)
	one := s.digest(start)
	b, err := json.Marshal(one)
	if err != nil || len(b) > 2048 || one.BootID != "b" || one.Tables["links"].Rows != 250 {
		t.Errorf("%d bytes, %+v, %v", len(b), one, err)
	}
	f := full()
	f.Links[3].Up = false
	s.put(f, rowAge(model.Links), start, start)
	if two := s.digest(start); two.Tables["links"].Sum == one.Tables["links"].Sum || two.Tables["routes"] != one.Tables["routes"] {
		t.Errorf("%+v, %+v", one, two)
	}
}

// What is asked about one pod is what concerns it, and a small answer.
func TestNarrow(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*model.NodeState){
		"pod":     func(f *model.NodeState) { narrow(f, "shop", "web-7", netip.Addr{}) },
		"address": func(f *model.NodeState) { narrow(f, "", "", netip.MustParseAddr("10.0.0.7")) },
	} {
		f := full()
		f.Routes = append(f.Routes, model.Route{Dst: netip.MustParsePrefix("0.0.0.0/0"), Link: 2})
		f.Neighbours = append(f.Neighbours, model.Neighbour{IP: netip.MustParseAddr("10.0.0.7"), Link: 999, State: "PERMANENT"})
		f.Links = append(f.Links, model.Link{Index: 999, Name: "caliother"}, model.Link{Index: 998, Name: "calinone"},
			model.Link{Index: 997, Name: "eth1", IPs: []netip.Prefix{netip.MustParsePrefix("172.16.0.1/24")}}) // the node's own
		f.Mounts = []model.Mount{{Source: "dead", Silent: true}, {Source: "fine"}}
		ask(f)
		got := fmt.Sprint(len(f.Links), len(f.Routes), len(f.Paths), len(f.Neighbours), len(f.Attachments), len(f.Sandboxes), len(f.Containers), len(f.CNIResults), len(f.Sysctls), len(f.Mounts), len(f.Machines))
		if got != "3 2 1 2 1 1 1 1 3 1 1" || f.Sandboxes[0].Pod != "web-7" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
