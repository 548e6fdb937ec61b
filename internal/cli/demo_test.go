package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// The demo needs nothing but a place to write: no cluster, no kubeconfig.
func TestDemo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a demo's")
	r := run(t, 0, "demo", "--dir", dir)
	if r.code != 0 || r.err != "" {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	for _, want := range []string{"error  PL2001/late-del/etcd1-0", "late-del/etcd1-0 on node1 running: running, but a DEL has emptied its address annotation [confirmed]", "annotation  EMPTIED", "late DEL: the stop of sandbox", "[proven]", "4 steps, risk safe"} {
		if strings.Count(r.out, want) != 1 {
			t.Errorf("not shown once: %s", want)
		}
	}
	if r := run(t, 0, "demo", "--dir", dir); r.code != 2 || !strings.Contains(r.err, "exists: remove it") {
		t.Errorf("again: exit code %d: %s", r.code, r.err)
	}
	bundle := filepath.Join(dir, "bundle.tar.gz")
	for _, args := range [][]string{{"--save", filepath.Join(dir, "plan.yaml")}, {"-o", "yaml"}, {"-o", "json"}} {
		if r := run(t, 0, append([]string{"plan", "--bundle", bundle}, args...)...); r.code != 2 || !strings.Contains(r.err, "not with --bundle") {
			t.Errorf("plan %q: exit code %d: %s", args, r.code, r.err)
		}
	}
	if r := run(t, 0, "plan", "--bundle", bundle); r.code != 1 || !strings.Contains(r.out, "unconfirmed") {
		t.Errorf("an unconfirmed finding is planned: exit code %d: %s", r.code, r.out)
	}
}
