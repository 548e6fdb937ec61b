package plugin

import (
	"os/exec"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// An ADD that got the address of a running sandbox is told of, and refused in enforce; that sandbox
// keeps everything. What is not certain refuses nothing.
func TestRootDuplicate(t *testing.T) {
	if !alone(t) {
		return
	}
	first, second := wired(t, "c1", "cali1", "10.0.0.1/32"), wired(t, "c2", "cali2", "10.0.0.2/32")
	runs := exec.CommandContext(t.Context(), "ip", "netns", "exec", "c1", "sleep", "600")
	must(t, runs.Start())
	defer func() { _ = runs.Process.Kill(); _ = runs.Wait() }()
	for _, c := range []struct {
		name    string
		mode    guard.Mode
		spoil   func(*stand)
		refused bool
		rule    int
	}{
		{"observe", guard.Observe, nil, false, 15},
		{"enforce", guard.Enforce, nil, true, 15},
		{"a DEL of it runs", guard.Enforce, func(s *stand) {
			file, now := s.until()
			s.acts["DEL"] = act{Until: file}
			del := s.command("DEL", "c1", "CNI_NETNS="+first, "CNI_ARGS=K8S_POD_NAMESPACE=ns;K8S_POD_NAME=first")
			must(t, del.Start())
			eventually(t, "it runs", func() bool { return strings.Contains(s.verbs(), "DEL") })
			t.Cleanup(func() { now(); _ = del.Wait() })
		}, false, 1},
		{"the address is gone", guard.Enforce, func(*stand) { ip(t, "-n", "c1", "address", "del", "10.0.0.1/32", "dev", "eth0") }, false, 1},
		{"no process is in it", guard.Enforce, func(*stand) {
			ip(t, "-n", "c1", "address", "add", "10.0.0.1/32", "dev", "eth0")
			must(t, runs.Process.Kill())
			_ = runs.Wait()
		}, false, 1},
	} {
		s := newStand(t).mode(c.mode)
		s.kind = "calico"
		s.version("v3.31.0")
		s.acts["ADD"] = act{Out: resultOf("cali1", "10.0.0.1/32")}
		if got := s.call("ADD", "c1", "CNI_NETNS="+first, "CNI_ARGS=K8S_POD_NAMESPACE=ns;K8S_POD_NAME=first"); got.code != 0 {
			t.Fatalf("%s: %+v", c.name, got)
		}
		if c.spoil != nil {
			c.spoil(s)
		}
		before := strings.Count(s.verbs(), "DEL")
		s.acts["ADD"] = act{Out: resultOf("cali2", "10.0.0.1/32")}
		got := s.call("ADD", "c2", "CNI_NETNS="+second, "CNI_ARGS=K8S_POD_NAMESPACE=ns;K8S_POD_NAME=second")
		if refused := got.code != 0; refused != c.refused || refused && !strings.Contains(got.out, "duplicate address: 10.0.0.1 is in use by ns/first") {
			t.Errorf("%s: %+v", c.name, got)
		}
		if dels := strings.Count(s.verbs(), "DEL") - before; (dels == 1) != c.refused {
			t.Errorf("%s: %d DELs of the second", c.name, dels)
		}
		events, _ := s.events()
		if e := events[len(events)-1]; e.Container != "c2" || e.Rule != c.rule {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
	if !onHost("cali1") {
		t.Error("the first sandbox has lost its interface")
	}
}
