package cli_test

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// Where everything was read, a node that nothing names is a typo.
func TestNoSuchNode(t *testing.T) {
	t.Parallel()
	r := run(t, 0, "explain", "node", "nosuchnode", "--bundle", bundle(t, "PL1001", nil))
	if r.code != 2 || !strings.HasPrefix(r.err, "error: node nosuchnode: no such node, and no pod, block or finding names it") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}

// A typo does not look healthy, and no findings say what was checked.
func TestCheckSaysWhatItJudged(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL9001", nil)
	for _, c := range []struct {
		args, out, err string
		code           int
	}{
		{"check -n nosuchns", "", "error: -n nosuchns: no pod is in this namespace, so nothing was checked", 2},
		{"check --node nosuchnode", "", "error: --node nosuchnode: no such node", 2},
		{"plan --node nosuchnode", "", "error: --node nosuchnode: no such node", 2},
		{"explain node nosuchnode", "node nosuchnode does not exist", "", 0}, // not everything was read here
		{"explain ip 10.0.0.1111", "", "error: explain ip 10.0.0.1111: not an address", 2},
		{"explain", "", "error: pass a code, a finding, or a kind and a name", 2},
		{"check --code PL2010", "Checked for PL2010 only: ", "", 0},
	} {
		r := run(t, 0, append(strings.Fields(c.args), "--bundle", file)...)
		if r.code != c.code && c.code != 0 || !strings.Contains(r.out, c.out) || !strings.HasPrefix(r.err, c.err) {
			t.Errorf("%s: exit %d\n%s%s", c.args, r.code, r.out, r.err)
		}
	}
}

// Unconfirmed findings are shown, and count if that is asked for.
func TestUnconfirmedAreShown(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL9003", func(s *model.Snapshot) {
		for i := range s.Nodes {
			s.Nodes[i].Ready, s.Nodes[i].Changed = i > 0, s.Meta.Taken-60
		}
	})
	args := []string{"check", "--bundle", file, "--code", "PL4009"}
	r := run(t, 0, args...)
	if r.code != 0 || !strings.Contains(r.out, "Unconfirmed:\nSEV") || !strings.Contains(r.out, "PL4009/n1") || !strings.Contains(r.out, "No findings; 1 unconfirmed") || !strings.Contains(r.out, "Checked for PL4009 only: 2 pods, 2 nodes") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r = run(t, 0, append(args, "--fail-on-unconfirmed")...); r.code != 1 {
		t.Errorf("--fail-on-unconfirmed: exit %d\n%s%s", r.code, r.out, r.err)
	}
}

// A calico-node that is not ready although Felix is explains nothing about routes of pods.
func TestErrorsStayErrors(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL3003", func(s *model.Snapshot) {
		for _, n := range s.Nodes {
			s.Pods = append(s.Pods, model.Pod{Namespace: "kube-system", Name: "calico-node-" + n.Name, UID: "c" + n.Name, Node: n.Name, Phase: model.Running, HostNetwork: true, Owner: "DaemonSet/calico-node", Created: s.Meta.Taken - 9000, Written: s.Meta.Taken - 9000})
		}
	})
	if r := run(t, 0, "check", "--bundle", file, "--code", "PL3003,PL4008", "--fail-on", "error"); r.code != 1 || !strings.Contains(r.out, "PL3003") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r := run(t, 0, "check", "--bundle", bundle(t, "PL5005-etcd", nil), "--node", "calico-4", "--code", "PL5005"); r.code != 2 || !strings.Contains(r.err, "Kubernetes calls it n4") {
		t.Errorf("Calico's name of a node: exit %d\n%s%s", r.code, r.out, r.err)
	}
}
