package server

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// A verification tells of everything that may use an address, under whatever name.
func TestAttest(t *testing.T) {
	t.Parallel()
	ip, other := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	at := func(a netip.Addr) []netip.Prefix { return []netip.Prefix{netip.PrefixFrom(a, 32)} }
	facts := func() *model.NodeState {
		return &model.NodeState{
			Machines:   []model.Machine{{BootID: "b", Uptime: 100, NodeName: "n1", CalicoName: "n1"}},
			CNIConfigs: []model.CNIConfig{{File: "99.conf", NodeName: "no"}, {File: "10-calico.conflist", Loaded: true, NodeName: "n2", Network: "net"}},
		}
	}
	for name, c := range map[string]struct {
		change    func(*model.NodeState)
		container string
		calls     []model.Process
		missing   bool
		quiet     bool
	}{
		"nothing":              {change: func(*model.NodeState) {}, quiet: true},
		"others only":          {change: func(f *model.NodeState) { f.Attachments = []model.Attachment{{Inode: 5, IPs: at(other)}} }, quiet: true},
		"a namespace has it":   {change: func(f *model.NodeState) { f.Attachments = []model.Attachment{{Inode: 5, IPs: at(ip)}} }},
		"its sandbox is there": {change: func(f *model.NodeState) { f.Sandboxes = []model.Sandbox{{ID: "c1"}} }, container: "c1"},
		"a call is under way":  {change: func(*model.NodeState) {}, calls: []model.Process{{PID: 9, CNI: "c9", Command: "ADD"}}},
		"its namespace under its name": {change: func(f *model.NodeState) {
			f.Sandboxes = []model.Sandbox{{ID: "c1", Inode: 5, Ready: true}}
			f.Attachments = []model.Attachment{{Inode: 5, IPs: at(other)}}
		}, container: "c1"},
		"the runtime was not seen":             {change: func(*model.NodeState) {}, missing: true},
		"a device of the host has it":          {change: func(f *model.NodeState) { f.Links = []model.Link{{Name: "vxlan.calico", IPs: at(ip)}} }},
		"a sandbox whose namespace nobody saw": {change: func(f *model.NodeState) { f.Sandboxes = []model.Sandbox{{ID: "c9", Inode: 7}} }},
		"a sandbox of the host's network":      {change: func(f *model.NodeState) { f.Sandboxes = []model.Sandbox{{ID: "c9", Ready: true, HostNetwork: true}} }, quiet: true},
		"a dead sandbox without a namespace":   {change: func(f *model.NodeState) { f.Sandboxes = []model.Sandbox{{ID: "c9"}} }, quiet: true},
		"what runs inside took the address off the device": {change: func(f *model.NodeState) {
			f.Sandboxes = []model.Sandbox{{ID: "c1", Inode: 5, Ready: true}}
			f.Attachments = []model.Attachment{{Inode: 5, Device: "eth0"}}
			f.CNIResults = []model.CNIResult{{Container: "c1", IPs: at(ip)}}
		}},
	} {
		f := facts()
		c.change(f)
		w := model.Verification{Calls: c.calls, Complete: !c.missing}
		q := question{ips: []netip.Addr{other.Next(), ip}}
		if c.container != "" {
			q.containers = []string{"c0", c.container}
		}
		verificationOf(&w, f, q)
		w.Complete = w.Complete && len(w.Missing) == 0
		if w.Quiet() != c.quiet || w.BootID != "b" || w.ConfigName != "n2" || w.Network != "net" || w.CalicoName != "n1" {
			t.Errorf("%s: quiet is %v, %+v", name, w.Quiet(), w)
		}
	}
	// The record of libcni names who had it; that alone uses nothing.
	f := facts()
	f.CNIResults = []model.CNIResult{{Container: "c1", IPs: at(ip)}, {Container: "c2", IPs: at(other)}}
	w := model.Verification{Complete: true}
	verificationOf(&w, f, question{ips: []netip.Addr{ip}})
	if len(w.Results) != 1 || w.Results[0].Container != "c1" || !w.Quiet() {
		t.Errorf("%+v", w)
	}
}

// A table that is partial, lost, or without a collector makes a verification incomplete.
func TestUnverified(t *testing.T) {
	t.Parallel()
	whole := rowAge(verifiedTables...)
	if got := unverified(whole); len(got) != 0 {
		t.Errorf("%q", got)
	}
	for i, c := range whole {
		broken := slices.Clone(whole)
		broken[i].State, broken[i].Reason = model.Partial, "cut"
		if got := unverified(broken); !slices.Equal(got, []string{c.Table.String() + ": cut"}) {
			t.Errorf("%s is partial: %q", c.Table, got)
		}
		if got := unverified(slices.Delete(slices.Clone(whole), i, i+1)); len(got) != 1 {
			t.Errorf("no collector for %s: %q", c.Table, got)
		}
	}
}

func TestUnionOfCalls(t *testing.T) {
	t.Parallel()
	a := []model.Process{{PID: 1, CNI: "x"}}
	if got := union(a, []model.Process{{PID: 1, CNI: "x"}, {PID: 1, CNI: "y"}, {PID: 2, CNI: "x"}}); len(got) != 3 || len(a) != 1 {
		t.Errorf("%+v", got)
	}
}

// A roll call names everything that could use something, and no more of it than that.
func TestRollCall(t *testing.T) {
	t.Parallel()
	ips := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
	f := &model.NodeState{
		Attachments: []model.Attachment{
			{Inode: 5, IPs: ips, Routes: make([]model.Route, 9), Neighbours: make([]model.Neighbour, 9)}, {Inode: 6, NetNS: "/run/netns/empty"},
		},
		Sandboxes:  []model.Sandbox{{ID: "c1", Inode: 5, Ready: true}, {ID: "dead"}, {ID: "host", HostNetwork: true, Ready: true}},
		CNIResults: []model.CNIResult{{Network: "net", Container: "c1", Interface: "eth0", IPs: ips}, {Container: "gone"}},
		Links:      []model.Link{{Name: "vxlan.calico", IPs: ips}, {Name: "cali1"}},
	}
	var w model.Verification
	verificationOf(&w, f, question{all: true})
	if len(w.Attachments) != 2 || w.Attachments[0].Sandbox != "c1" || w.Attachments[0].Routes != nil || w.Attachments[0].Neighbours != nil {
		t.Errorf("attachments: %+v", w.Attachments)
	}
	if len(w.Sandboxes) != 3 || len(w.Links) != 1 || len(w.Missing) != 0 {
		t.Errorf("%+v", w)
	}
	if len(w.Results) != 2 || w.Results[0].Network != "" || w.Results[0].Interface != "" || !slices.Equal(w.Results[0].IPs, ips) || w.Results[1].Container != "gone" {
		t.Errorf("results: %+v", w.Results)
	}
}

// A question that is spelled otherwise than the tables are would get a false no.
func TestAsked(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("0a", 32)
	many := func(n int, what string) string { return strings.TrimSuffix(strings.Repeat(what+"&", n), "&") }
	for text, want := range map[string]string{
		"ip=10.0.0.5":                "[10.0.0.5] [] false",
		"ip=::ffff:10.0.0.5":         "[10.0.0.5] [] false",
		"ip=fd00::1&container=" + id: "[fd00::1] [" + id + "] false",
		"container=" + id:            "[] [" + id + "] false",
		"ip=10.0.0.5&ip=10.0.0.6":    "[10.0.0.5 10.0.0.6] [] false",
		"all=1":                      "[] [] true",

		"":                                 "",
		"all=0":                            "",
		"all=1&ip=10.0.0.5":                "",
		"container=" + id[:8]:              "",
		"container=" + strings.ToUpper(id): "",
		"ip=10.0.0.5&container=x":          "",
		"ip=10.0.0.5&ip=":                  "",
		"ip=fe80::1%25eth0":                "",
		"ip=fe80::1":                       "",
		"ip=0.0.0.0":                       "",
		"ip=10.0.0.0/26":                   "",
		many(65, "ip=10.0.0.5"):            "",
		many(65, "container="+id):          "",
		many(65, "ip=10.0.0.5") + "&all=1": "",
	} {
		v, err := url.ParseQuery(text)
		q, ok := asked(v)
		if got := fmt.Sprint(q.ips, q.containers, q.all); err != nil || ok != (want != "") || ok && got != want {
			t.Errorf("%.80s: %s, %v", text, got, ok)
		}
	}
	if v, _ := url.ParseQuery(many(64, "ip=10.0.0.5") + "&" + many(64, "container="+id)); len(v["ip"]) == 64 {
		if _, ok := asked(v); !ok {
			t.Error("64 of each are too many")
		}
	}
}
