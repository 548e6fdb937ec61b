package plugin

import (
	"os"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// wired is a namespace with eth0 in it, and its other end on the host.
func wired(t *testing.T, name, host, address string) string {
	t.Helper()
	path := pin(t, name)
	ip(t, "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", name)
	ip(t, "link", "set", host, "up")
	ip(t, "-n", name, "link", "set", "eth0", "up")
	ip(t, "-n", name, "address", "add", address, "dev", "eth0")
	ip(t, "-n", name, "route", "add", "169.254.1.1", "dev", "eth0")
	ip(t, "-n", name, "route", "add", "default", "via", "169.254.1.1", "dev", "eth0")
	return path
}

func resultOf(host, address string) string {
	return `{"cniVersion":"0.4.0","interfaces":[{"name":"` + host + `"},{"name":"eth0","sandbox":"/x"}],"ips":[{"version":"4","address":"` + address + `","interface":1}]}`
}

// A late DEL that is withheld deletes what is in the old sandbox's namespace, and there only.
func TestRootLateDelStaysInside(t *testing.T) {
	if !alone(t) {
		return
	}
	s := newStand(t).mode(guard.Enforce)
	s.kind = "calico"
	s.version("v1.5.0")
	add := func(id, path, host, address string) {
		s.acts["ADD"] = act{Out: resultOf(host, address)}
		if got := s.call("ADD", id, "CNI_NETNS="+path); got.code != 0 {
			t.Fatalf("%+v", got)
		}
	}
	old, fresh := wired(t, "old", "cali1", "10.0.0.1/32"), wired(t, "new", "cali2", "10.0.0.2/32")
	add("old", old, "cali1", "10.0.0.1/32")
	add("new", fresh, "cali2", "10.0.0.2/32")
	devices := func() string {
		var out []string
		for _, name := range []string{"cali1", "cali2", "cali3"} {
			if onHost(name) {
				out = append(out, name)
			}
		}
		return strings.Join(out, " ")
	}
	// Another path than the one on record: nothing is touched.
	s.call("DEL", "old", "CNI_NETNS="+fresh)
	if got := devices(); got != "cali1 cali2" {
		t.Fatalf("left: %s", got)
	}
	add("old2", old, "cali1", "10.0.0.1/32")
	add("newest", fresh, "cali2", "10.0.0.2/32")
	if got := s.call("DEL", "old2", "CNI_NETNS="+old); got.code != 0 || got.out != "" {
		t.Errorf("%+v", got)
	}
	if got := devices(); got != "cali2" {
		t.Fatalf("left: %s", got)
	}
	// The path leads to another namespace by now: nothing is touched.
	add("old3", old, "cali1", "10.0.0.1/32")
	add("last", fresh, "cali2", "10.0.0.2/32")
	unpin(t, old)
	wired(t, "old", "cali3", "10.0.0.3/32")
	if got := s.call("DEL", "old3", "CNI_NETNS="+old); got.code != 0 {
		t.Errorf("%+v", got)
	}
	if got := devices(); got != "cali2 cali3" {
		t.Fatalf("left: %s", got)
	}
	if strings.Contains(s.verbs(), "DEL") {
		t.Errorf("asked %s", s.verbs())
	}
	// The host's own namespace: nothing is touched.
	ip(t, "link", "add", "eth0", "type", "veth", "peer", "name", "eth1")
	add("host", "/proc/self/ns/net", "cali9", "10.0.0.9/32")
	add("after", fresh, "cali2", "10.0.0.2/32")
	s.call("DEL", "host", "CNI_NETNS=/proc/self/ns/net")
	if !onHost("eth0") {
		t.Error("the host's own device is gone")
	}
}

// A DEL that is passed on and takes something from the newest owner is told of.
func TestRootLossIsTold(t *testing.T) {
	if !alone(t) {
		return
	}
	s := newStand(t).mode(guard.Observe)
	fresh := wired(t, "new", "cali2", "10.0.0.2/32")
	s.call("ADD", "old", "CNI_NETNS=")
	s.acts["ADD"] = act{Out: resultOf("cali2", "10.0.0.2/32")}
	s.call("ADD", "new", "CNI_NETNS="+fresh)
	s.call("DEL", "old", "CNI_NETNS=")
	events, _ := s.events()
	if e := events[2]; !e.Late || len(e.Lost) > 0 {
		t.Errorf("%+v", e)
	}
	s.call("ADD", "old", "CNI_NETNS=")
	s.call("ADD", "new", "CNI_NETNS="+fresh)
	file, now := s.until()
	s.acts["DEL"] = act{Until: file}
	del := s.command("DEL", "old", "CNI_NETNS=")
	must(t, del.Start())
	eventually(t, "it runs", func() bool { return strings.Count(s.verbs(), "DEL") == 2 })
	ip(t, "link", "del", "cali2")
	now()
	must(t, del.Wait())
	events, _ = s.events()
	if e := events[5]; !e.Late || len(e.Lost) != 1 || !strings.Contains(e.Lost[0], "eth0") {
		t.Errorf("%+v", e)
	}
}

// CHECK sees for itself. In observe that changes no answer.
func TestRootCheck(t *testing.T) {
	if !alone(t) {
		return
	}
	for name, spoil := range map[string]func(){
		"":                         func() {},
		"the address":              func() { ip(t, "-n", "c1", "address", "del", "10.0.0.1/32", "dev", "eth0") },
		"no usable route":          func() { ip(t, "-n", "c1", "route", "del", "default") },
		"is down":                  func() { ip(t, "-n", "c1", "link", "set", "eth0", "down") },
		"the host interface cali1": func() { ip(t, "link", "set", "cali1", "down") },
		"the host interface is cali7": func() {
			ip(t, "link", "set", "cali1", "down")
			ip(t, "link", "set", "cali1", "name", "cali7")
		},
		"the interface eth0 does not exist": func() { ip(t, "link", "del", "cali1") },
		"the network namespace is gone":     func() { unpin(t, "/run/netns/c1") },
		"does not answer": func() {
			ip(t, "-n", "c1", "neighbour", "add", "169.254.1.1", "dev", "eth0", "lladdr", "ee:ee:ee:ee:ee:ee", "nud", "failed")
		},
		"is not that of the ADD": func() {
			ip(t, "link", "del", "cali1")
			unpin(t, "/run/netns/c1")
			wired(t, "c1", "cali1", "10.0.0.1/32")
		},
	} {
		s := newStand(t).mode(guard.Enforce)
		path := wired(t, "c1", "cali1", "10.0.0.1/32")
		s.acts = map[string]act{"ADD": {Out: resultOf("cali1", "10.0.0.1/32")}, "CHECK": {Out: "OK\n"}}
		s.call("ADD", "c1", "CNI_NETNS="+path)
		s.conf["prevResult"] = map[string]any{
			"interfaces": []any{map[string]any{"name": "cali1"}, map[string]any{"name": "eth0", "sandbox": path}},
			"ips":        []any{map[string]any{"address": "10.0.0.1/32", "interface": 1}},
		}
		spoil()
		got := s.call("CHECK", "c1", "CNI_NETNS="+path)
		if name == "" && (got.out != "OK\n" || got.code != 0) || name != "" && (!strings.Contains(got.out, name) || got.code != 1) {
			t.Errorf("%q: %+v", name, got)
		}
		s.mode(guard.Observe)
		if got := s.call("CHECK", "c1", "CNI_NETNS="+path); got.out != "OK\n" || got.code != 0 {
			t.Errorf("%q, observed: %+v", name, got)
		}
		if events, _ := s.events(); !strings.Contains(events[2].Says, name) {
			t.Errorf("%q: %+v", name, events[2])
		}
		for _, host := range []string{"cali1", "cali7"} {
			if onHost(host) {
				ip(t, "link", "del", host)
			}
		}
		if _, err := os.Stat(path); err == nil {
			unpin(t, path)
		}
	}
}

// The endless DEL ends: no namespace, no endpoint, nothing left that it could do.
func TestRootEndlessDelEnds(t *testing.T) {
	if !alone(t) {
		return
	}
	const none = `{"code":999,"msg":"resource does not exist: WorkloadEndpoint(default/x) with error: not found"}`
	for _, mode := range []guard.Mode{guard.Observe, guard.Enforce} {
		s := newStand(t).mode(mode)
		s.acts["DEL"] = act{Out: none, Code: 1}
		path := wired(t, "c1", "cali1", "10.0.0.1/32")
		s.call("ADD", "c1", "CNI_NETNS="+path)
		if got := s.call("DEL", "c1", "CNI_NETNS="+path); got.code != 1 || got.out != none {
			t.Errorf("%s, the namespace lives: %+v", mode, got)
		}
		unpin(t, path)
		eventually(t, "it is gone", func() bool { return !onHost("cali1") })
		got := s.call("DEL", "c1", "CNI_NETNS="+path)
		if changed := got.code == 0 && got.out == ""; changed != (mode == guard.Enforce) || changed != (len(s.queued()) == 1) {
			t.Errorf("%s: %+v, queued %+v", mode, got, s.queued())
		}
		if o := s.owner("c1"); (o.State == guard.Deleted) != (mode == guard.Enforce) {
			t.Errorf("%s: %+v", mode, o)
		}
		events, _ := s.events()
		if e := events[2]; e.Rule == 11 != (mode == guard.Enforce) || !strings.Contains(e.Error, "does not exist") {
			t.Errorf("%s: %+v", mode, e)
		}
	}
}
