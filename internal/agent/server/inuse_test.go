package server

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
	acts "plumbline.dev/plumbline/internal/repair/change"
)

// A device is nobody's only if nothing speaks for anybody.
func TestOfNobody(t *testing.T) {
	t.Parallel()
	ip := netip.MustParsePrefix("10.0.0.1/32")
	veth := &kernel.HostVeth{Name: "cali1", Index: 7, Peer: 2, PeerNS: 5, Pinned: "/run/netns/x"}
	routes := []model.Route{{Dst: netip.MustParsePrefix("10.0.0.0/26"), Link: 7}, {Dst: ip, Link: 7}}
	for name, c := range map[string]struct {
		change func(*model.NodeState)
		says   string
	}{
		"nobody": {func(*model.NodeState) {}, ""},
		"the dead one has its address": {func(f *model.NodeState) {
			f.Attachments = []model.Attachment{{Inode: 5, IPs: []netip.Prefix{ip}, Pinned: true}}
		}, ""},
		"a namespace of nobody's has it": {func(f *model.NodeState) { f.Attachments = []model.Attachment{{Inode: 6, IPs: []netip.Prefix{ip}}} }, ""},
		"others live":                    {func(f *model.NodeState) { f.Attachments = []model.Attachment{{Inode: 6, PIDs: 3}} }, ""},
		"a sandbox of another": {func(f *model.NodeState) {
			f.Sandboxes = []model.Sandbox{{Inode: 6, Ready: true}, {HostNetwork: true, Ready: true}, {ID: "dead"}}
		}, ""},

		"no network is known":      {func(f *model.NodeState) { f.CNIConfigs = nil }, "Calico's"},
		"it is not the loaded one": {func(f *model.NodeState) { f.CNIConfigs[0].Loaded = false }, "Calico's"},
		"another network":          {func(f *model.NodeState) { f.CNIConfigs[0].Plugins = []string{"aws-cni", "egress"} }, "Calico's"},
		"a sandbox has it":         {func(f *model.NodeState) { f.Sandboxes = []model.Sandbox{{Inode: 5}} }, "sandbox"},
		"a sandbox has that file":  {func(f *model.NodeState) { f.Sandboxes = []model.Sandbox{{NetNS: "/run/netns/x"}} }, "sandbox"},
		"a sandbox of nowhere":     {func(f *model.NodeState) { f.Sandboxes = []model.Sandbox{{Ready: true}} }, "is unknown"},
		"a process is there":       {func(f *model.NodeState) { f.Attachments = []model.Attachment{{Inode: 5, PIDs: 1}} }, "is in use"},
		"one who lives has it": {func(f *model.NodeState) {
			f.Attachments = []model.Attachment{{Inode: 6, PIDs: 1, IPs: []netip.Prefix{ip}}}
		}, "packets to 10.0.0.1"},
		"one in a sandbox has it": {func(f *model.NodeState) {
			f.Attachments = []model.Attachment{{Inode: 6, Sandbox: "s", IPs: []netip.Prefix{ip}}}
		}, "packets to 10.0.0.1"},
	} {
		f := &model.NodeState{CNIConfigs: []model.CNIConfig{{Loaded: true, Plugins: []string{"calico", "portmap"}}}}
		c.change(f)
		err := ofNobody(veth, f, routes)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A device must have been as it is for long, under our eyes.
func TestLasts(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0)
	s := New(Config{Node: "n1", Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return at }})
	put := func(links ...model.Link) { s.store.put(&model.NodeState{Links: links}, rowAge(model.Links), at, at) }
	const least = 2 * time.Minute
	if s.lasts(7, "cali1", 0) == nil {
		t.Error("nothing was seen yet")
	}
	l := model.Link{Index: 7, Name: "cali1", PeerNS: 5}
	put(l)
	for range 4 {
		if s.lasts(7, "cali1", least) == nil {
			t.Errorf("at %s", at)
		}
		at = at.Add(30 * time.Second)
		put(l)
	}
	if err := s.lasts(7, "cali1", least); err != nil {
		t.Error(err)
	}
	if s.lasts(8, "cali1", least) == nil || s.lasts(7, "cali2", least) == nil {
		t.Error("another device")
	}
	l.PeerNS = 6
	put(l)
	if s.lasts(7, "cali1", least) == nil {
		t.Error("it has changed")
	}
	at = at.Add(time.Hour)
	put(l)
	if s.lasts(7, "cali1", least) == nil {
		t.Error("nobody was watching for an hour")
	}
	at = at.Add(least / 2)
	put(l)
	at = at.Add(least / 2)
	put(l)
	if err := s.lasts(7, "cali1", least); err != nil {
		t.Error(err)
	}
	s.store.put(&model.NodeState{}, []model.Coverage{{Table: model.Links, State: model.Partial, Reason: "cut"}}, at, at)
	if s.lasts(7, "cali1", least) == nil {
		t.Error("it is not seen now")
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls []model.Process
		err   error
		quiet bool
	}{
		"nobody calls": {quiet: true}, "an ADD": {calls: []model.Process{{Command: "ADD", CNI: "c1"}}}, "not all were asked": {err: errors.New("pid 7")},
	} {
		s := New(Config{Node: "n1", Now: now, Calls: func(context.Context) ([]model.Process, error) { return c.calls, c.err }})
		if got := s.quiet(t.Context()); (got == nil) != c.quiet {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Only what does not answer, and is known not to, is aborted.
func TestSilent(t *testing.T) {
	t.Parallel()
	f := &host.Filesystem{Device: "0:52", Source: "gluster:/vol", Type: "fuse.glusterfs"}
	for name, c := range map[string]struct {
		rows   []model.Mount
		err    error
		device string
		seen   string
		want   string
	}{
		"silent":                  {rows: []model.Mount{{Device: "0:51"}, {Device: "0:52", Silent: true, Waits: 120}}},
		"only for a moment":       {rows: []model.Mount{{Device: "0:52", Silent: true, Waits: 119}}, want: "has not answered for 119s"},
		"a plan that wants less":  {rows: []model.Mount{{Device: "0:52", Silent: true, Waits: 5}}, seen: "5"},
		"and not even that":       {rows: []model.Mount{{Device: "0:52", Silent: true, Waits: 4}}, seen: "5", want: "has not answered for 4s"},
		"nobody knows since when": {rows: []model.Mount{{Device: "0:52", Silent: true}}, want: "has not answered for 0s"},
		"it answers":              {rows: []model.Mount{{Device: "0:52"}}, want: errAlready.Error()},
		"only its ghost":          {rows: []model.Mount{{Device: "0:52", Silent: true, Dead: "x"}}, want: "is unknown"},
		"unknown":                 {want: "is unknown"},
		"not all is seen":         {rows: []model.Mount{{Device: "0:52", Silent: true, Waits: 120}}, err: observe.ErrPartial, want: "could not be read completely"},
		"another device":          {rows: []model.Mount{{Device: "0:52", Silent: true, Waits: 120}}, device: "0:51", want: "not the one"},
	} {
		s := New(Config{Node: "n1", Now: now, Collectors: []observe.NodeCollector{{Name: "m", Tables: []model.Table{model.Mounts}, Read: func(_ context.Context, into *model.NodeState) error {
			into.Mounts = c.rows
			return c.err
		}}}})
		args := map[string]string{"device": "0:52"}
		if c.device != "" {
			args["device"] = c.device
		}
		if c.seen != "" {
			args["seen"] = c.seen
		}
		_, err := s.silent(t.Context(), &readState{body: f}, args)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whoever is named by nothing but the thing itself is refused before anything is asked.
func TestArgsAreNeeded(t *testing.T) {
	t.Parallel()
	s := New(Config{Node: "n1", Now: now, Writer: &NodeWriter{}, Log: slog.New(slog.DiscardHandler)})
	ip := netip.MustParseAddr("10.0.0.1")
	way := &kernel.HostRoutes{IP: ip, Routes: []model.Route{{Dst: netip.PrefixFrom(ip, 32), Link: 7, Table: 254, Protocol: 3}}}
	for _, c := range []struct {
		verb string
		body any
		args map[string]string
	}{
		{"unlink", &kernel.HostVeth{Name: "cali1", Index: 7}, nil},
		{"unlink", &kernel.HostVeth{Name: "cali1", Index: 7}, map[string]string{"index": "8"}},
		{"unlink", &kernel.HostVeth{Name: "cali1", Index: 7}, map[string]string{"index": "7", "seen": "x"}},
		{"unlink", &kernel.HostVeth{Name: "cali1", Index: 7}, map[string]string{"index": "7", "seen": "-1"}},
		{"unneighbour", &kernel.NeighbourEntry{IP: ip, Link: 7, MAC: "02:00:00:00:00:01"}, map[string]string{"link": "7"}},
		{"unneighbour", &kernel.NeighbourEntry{IP: ip, Link: 7, MAC: "02:00:00:00:00:01"}, map[string]string{"link": "8", "mac": "02:00:00:00:00:01"}},
		{"unroute", way, map[string]string{"link": "7"}},
		{"unroute", way, map[string]string{"protocol": "3"}},
		{"sysctl", &kernel.Setting{Device: "cali1", Index: 7, Value: "0"}, map[string]string{"value": "1"}},
		{"sysctl", &kernel.Setting{Device: "cali1", Index: 7, Value: "0"}, map[string]string{"index": "8", "value": "1"}},
		{"abort", &host.Filesystem{Device: "0:52"}, nil},
		{"abort", &host.Filesystem{Device: "0:52"}, map[string]string{"device": "0:53"}},
		{"remove", &cri.SandboxStatus{UID: "u"}, nil},
	} {
		if begun, err := s.verbs[c.verb].do(t.Context(), &readState{body: c.body}, c.args, false); begun || err == nil || errors.Is(err, errAlready) || isGone(err) {
			t.Errorf("%s %v: %v, %v", c.verb, c.args, begun, err)
		}
	}
	for name, v := range s.verbs {
		if begun, err := v.do(t.Context(), &readState{body: "something else"}, nil, false); begun || err == nil {
			t.Errorf("%s: %v, %v", name, begun, err)
		}
	}
}

// The DEL of an old sandbox carries its pod's name: while the name has another sandbox, or may
// get one, it is not removed.
func TestNameIsFree(t *testing.T) {
	t.Parallel()
	b := &cri.SandboxStatus{ID: "old", Namespace: "shop", Pod: "db-0", UID: "u"}
	for name, c := range map[string]struct {
		boxes []model.Sandbox
		calls []model.Process
		err   error
		want  string
	}{
		"alone":                   {boxes: []model.Sandbox{{ID: "old", Namespace: "shop", Pod: "db-0", Ready: true}, {ID: "b", Namespace: "shop", Pod: "db-1", Ready: true}}},
		"a newer sandbox runs":    {boxes: []model.Sandbox{{ID: "new", Namespace: "shop", Pod: "db-0", Ready: true}}, want: "another sandbox"},
		"a newer one is starting": {boxes: []model.Sandbox{{ID: "new", Namespace: "shop", Pod: "db-0", Inode: 7}}, want: "another sandbox"},
		"one that has ended":      {boxes: []model.Sandbox{{ID: "new", Namespace: "shop", Pod: "db-0"}}},
		"of another namespace":    {boxes: []model.Sandbox{{ID: "new", Namespace: "other", Pod: "db-0", Ready: true}}},
		"its own DEL runs":        {calls: []model.Process{{Command: "DEL", CNI: "old", Pod: "shop/db-0"}}, want: "for this sandbox is running"},
		"an ADD of the name":      {calls: []model.Process{{Command: "ADD", CNI: "new", Pod: "shop/db-0"}}, want: "for shop/db-0 is running"},
		"an ADD of whoever":       {calls: []model.Process{{Command: "ADD", CNI: "new"}}, want: "is running"},
		"an ADD of another":       {calls: []model.Process{{Command: "ADD", CNI: "b", Pod: "shop/db-1"}}},
		"sandboxes are not read":  {err: observe.ErrPartial, want: "could not be read completely"},
	} {
		s := New(Config{
			Node: "n1", Now: now, Calls: func(context.Context) ([]model.Process, error) { return c.calls, nil },
			Collectors: []observe.NodeCollector{{Name: "s", Tables: []model.Table{model.Sandboxes}, Read: func(_ context.Context, into *model.NodeState) error {
				into.Sandboxes = c.boxes
				return c.err
			}}},
		})
		if err := s.nameIsFree(t.Context(), b); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the executor derives from an object, it derives from what the agent really sends.
func TestActingReadsWhatAgentsSend(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr("10.0.0.1")
	for name, c := range map[string]struct {
		verb, name string
		body       any
		args       map[string]string
		want       func(acts.Acting) bool
	}{
		"unlink":  {"unlink", "cali1", &kernel.HostVeth{Name: "cali1", Index: 7}, map[string]string{"index": "7"}, func(a acts.Acting) bool { return a.NotInUse.Calm && a.NotInUse.Nodes[0] == "n1" }},
		"unroute": {"unroute", "10.0.0.1", &kernel.HostRoutes{IP: ip}, map[string]string{"link": "7"}, func(a acts.Acting) bool { return a.Running.Away == 7 && a.Running.At == ip }},
		"unneighbour": {
			"unneighbour", "10.0.0.1/cali1", &kernel.NeighbourEntry{IP: ip, Device: "cali1", Link: 7, MAC: "02:00:00:00:00:0a"},
			map[string]string{"link": "7", "mac": "02:00:00:00:00:0A"},
			func(a acts.Acting) bool { return a.Running.Away == 7 && a.Running.MAC == "02:00:00:00:00:0a" },
		},
		"sysctl": {"sysctl", "cali1/proxy_arp", &kernel.Setting{Device: "cali1", Index: 7, Key: "proxy_arp", Value: "0"}, map[string]string{"index": "7", "value": "1"}, func(a acts.Acting) bool { return a.Running.Peer == 7 }},
		"abort":  {"abort", "bridge", &host.Filesystem{Device: "0:52", Source: "bridge", Pods: []string{"u"}, Known: true}, map[string]string{"device": "0:52"}, func(a acts.Acting) bool { return a.Abort && a.Known && a.Users[0] == "u" }},
		"remove": {
			"remove", "box", &cri.SandboxStatus{ID: "box", Namespace: "shop", Pod: "db-0", UID: "u"},
			map[string]string{"uid": "u"},
			func(a acts.Acting) bool {
				return a.Gone == "u" && a.NotInUse.Absent[0].Name == "shop/db-0" && a.NotInUse.Containers[0] == "box"
			},
		},
	} {
		n := &acts.OnNode{Verb: c.verb, Args: c.args}
		live := func(body any) model.Object { return model.Object{Revision: "d", Body: encoded(&body)} }
		kind := verbsOf(&Server{})[c.verb].kind
		if a := n.Acting(model.Ref{Kind: kind, Name: "n1/" + c.name}, live(c.body)); a.Refused != "" || !c.want(a) {
			t.Errorf("%s: %+v", name, a)
		}
		for _, bad := range []model.Object{live("text"), live(map[string]any{}), {Revision: "d"}} {
			if a := n.Acting(model.Ref{Kind: kind, Name: "n1/" + c.name}, bad); a.Refused == "" {
				t.Errorf("%s of %s: %+v", name, bad.Body, a)
			}
		}
		if a := n.Acting(model.Ref{Kind: kind, Name: "n1/other"}, live(c.body)); a.Refused == "" && c.verb != "abort" { // a mount is named by source or target
			t.Errorf("%s of another object: %+v", name, a)
		}
	}
	layered := &host.Filesystem{Device: "0:52", Layers: []string{"/var/lib/x/rootfs"}}
	var body any = layered
	if a := (&acts.OnNode{Verb: "abort", Args: map[string]string{"device": "0:52"}}).Acting(model.Ref{Kind: model.KindMount, Name: "n1/b"}, model.Object{Revision: "d", Body: encoded(&body)}); a.Refused == "" {
		t.Errorf("images are on it: %+v", a)
	}
}
