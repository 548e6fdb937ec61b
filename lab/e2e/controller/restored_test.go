//go:build e2e

package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// TestRestored: a datastore is set back to a backup while pods have come and gone. It is a finding within a minute, ipam
// diff names who lost and gained an address, no shadow decision is scored on it, and a rebuild makes the cluster clean.
func TestRestored(t *testing.T) {
	for name, c := range map[string]struct {
		mode   lab.Datastore
		stores []string
		bump   bool
	}{
		"kubernetes":    {lab.KDD, []string{lab.KubernetesStore}, false},
		"bumped":        {lab.KDD, []string{lab.KubernetesStore}, true},
		"calico":        {lab.Etcd, []string{lab.CalicoStore}, false},
		"calico bumped": {lab.Etcd, []string{lab.CalicoStore}, true},
		"both":          {lab.Etcd, []string{lab.KubernetesStore, lab.CalicoStore}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, c.mode, 1)
			sc := stage.Scenario{Name: "restored", Run: func(ctx context.Context, s *stage.Stage) error { return b.restored(ctx, s, c.stores, c.bump) }}
			if err := stage.Play(t.Context(), b.Lab, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

const policyManifest = `apiVersion: plumbline.dev/v1alpha1
kind: RepairPolicy
metadata: {name: leaks}
spec: {codes: [PL1001, PL1006]}
`

func (b *bench) restored(ctx context.Context, s *stage.Stage, stores []string, bump bool) error {
	if err := b.Apply(ctx, policyManifest); err != nil {
		return err
	}
	was := map[string]string{}
	for _, name := range []string{"kept", "deleted"} {
		pod, err := s.Run(ctx, stage.PodSpec{Name: name, Node: "node1"})
		if err != nil {
			return err
		}
		was[name] = pod.Status.PodIP
	}
	backups := map[string]string{}
	for _, store := range stores {
		var err error
		if backups[store], err = b.BackUp(ctx, store, b.t.TempDir()); err != nil {
			return err
		}
	}
	if err := s.Delete(ctx, "deleted"); err != nil {
		return err
	}
	for _, name := range []string{"new1", "new2"} {
		pod, err := s.Run(ctx, stage.PodSpec{Name: name, Node: "node2"})
		if err != nil {
			return err
		}
		was[name] = pod.Status.PodIP
	}
	b.newAgents(ctx)
	state := b.t.TempDir()
	before := filepath.Join(state, "before.tar.gz")
	if out, code, err := stage.Plumbline(ctx, b.Lab, product.Binary(b.t), state, "ipam", "backup", "--save", before); err != nil || code != 0 {
		b.t.Fatalf("ipam backup: exit code %d, %v\n%s", code, err, out)
	}
	kept := filepath.Join(state, "kept")
	if err := os.Mkdir(kept, 0o700); err != nil {
		return err
	}
	b.keeps(ctx, state, kept, false)
	for _, store := range stores {
		if err := b.Restore(ctx, store, backups[store], bump); err != nil {
			return err
		}
	}
	began := time.Now()
	kubernetes := slices.Contains(stores, lab.KubernetesStore)
	if kubernetes { // its Lease could not be renewed: the kubelet starts it again
		_ = b.replicas["controller-0"].Wait()
		b.run("controller-0")
	}
	b.eventually("PL9006", 2*time.Minute, func(ctx context.Context) error {
		all, err := b.findings(ctx)
		f, ok := all["pl9006-cluster"]
		return expect(err, ok && f.Status.State == "Confirmed" && f.Status.Count == len(stores), "%d pl9006 confirmed, got %+v", len(stores), all)
	})
	b.t.Logf("restored to finding, by the memory of the controller: %.1f s", time.Since(began).Seconds())
	if kubernetes {
		b.nodesSay(ctx)
	}
	b.diffed(ctx, state, before, was)
	b.keeps(ctx, state, kept, true)
	return b.rebuilt(ctx, state)
}

// nodesSay: whoever has no memory hears it from the agents. Kubernetes' documentation tells to restart what watches the API
// server after a restore: a kubelet waits for a revision that comes in hours, and its agent's pod, of which the API server
// knows nothing, cannot authenticate anybody.
func (b *bench) nodesSay(ctx context.Context) {
	b.t.Helper()
	nodes, err := b.RunningNodes(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, n := range nodes {
		for _, part := range []string{lab.Kubelet, lab.Felix} {
			if err := n.Restart(ctx, part); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	began := time.Now()
	b.eventually("PL9006 by agents", 3*time.Minute, func(ctx context.Context) error {
		out, _, err := stage.Plumbline(ctx, b.Lab, product.Binary(b.t), b.t.TempDir(), "check", "-o", "json", "--code=PL9006")
		return expect(err, strings.Contains(out, "node1/machine") && strings.Contains(out, "node2/machine"), "both nodes to say it, got %s", out)
	})
	b.t.Logf("kubelets restarted to finding, by the memory of agents: %.1f s", time.Since(began).Seconds())
}

// newAgents replaces the agents, which write their Leases anew: others do every ten minutes.
func (b *bench) newAgents(ctx context.Context) {
	b.t.Helper()
	if out, err := b.Kubectl(ctx, "-n", lab.AgentNamespace, "rollout", "restart", "daemonset/plumbline-agent"); err != nil {
		b.t.Fatal(out, err)
	}
	if out, err := b.Kubectl(ctx, "-n", lab.AgentNamespace, "rollout", "status", "daemonset/plumbline-agent", "--timeout=120s"); err != nil {
		b.t.Fatal(out, err)
	}
	time.Sleep(10 * time.Second) // they publish
}

// keeps: a directory keeps one file, and the last one from before a restore.
func (b *bench) keeps(ctx context.Context, state, dir string, restored bool) {
	b.t.Helper()
	out, code, err := stage.Plumbline(ctx, b.Lab, product.Binary(b.t), state, "ipam", "backup", "--save", dir, "--keep=1")
	if err != nil || code != 0 || strings.Contains(out, "before-restore-") != restored {
		b.t.Errorf("ipam backup --keep: exit code %d, %v, restored %t\n%s", code, err, restored, out)
	}
}

// diffed: every address that changed hands is named.
func (b *bench) diffed(ctx context.Context, state, before string, was map[string]string) {
	b.t.Helper()
	out, code, err := stage.Plumbline(ctx, b.Lab, product.Binary(b.t), state, "ipam", "diff", before)
	b.t.Logf("ipam diff (exit code %d, %v):\n%s", code, err, out)
	for _, name := range []string{"new1", "new2"} {
		if !strings.Contains(out, was[name]) {
			b.t.Errorf("ipam diff does not name %s of %s", was[name], name)
		}
	}
	if strings.Contains(out, was["kept"]+" ") {
		b.t.Errorf("ipam diff names %s of the pod that kept it", was["kept"])
	}
}

// rebuilt: after the plan from running pods nothing is found but that it was restored; nothing was scored.
func (b *bench) rebuilt(ctx context.Context, state string) error {
	bin := product.Binary(b.t)
	var left []string
	for round := range 4 {
		time.Sleep(30 * time.Second) // kubelets stop what the API server does not know
		file := filepath.Join(state, fmt.Sprintf("plan%d.json", round))
		args := []string{"plan", "--allow-mass-change", "--settle=10s", "--save", file}
		if round == 0 { // the records first, then endpoints
			args = append(args, "--rebuild")
		}
		out, code, err := stage.Plumbline(ctx, b.Lab, bin, state, args...)
		b.t.Logf("plan (exit code %d, %v):\n%s", code, err, out)
		if code == 0 && strings.Contains(out, "Saved") {
			out, code, err = stage.Plumbline(ctx, b.Lab, bin, state, "apply", "-f", file, "--max-risk=disruptive")
			b.t.Logf("apply (exit code %d, %v):\n%s", code, err, out)
		}
		seen, err := stage.CheckWith(ctx, b.Lab, bin, state, "--wait", "--settle=10s")
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(seen.Names(), func(n string) bool { return strings.HasPrefix(n, "PL9006/") })
		b.t.Logf("left: %q", left)
		if len(left) == 0 {
			break
		}
	}
	if len(left) > 0 {
		b.t.Errorf("left after the rebuild: %q", left)
	}
	out, err := b.Kubectl(ctx, "get", "repairpolicy", "leaks", "-o", "jsonpath={.status.state} {.status.open} {.status.right} {.status.wrong}")
	b.t.Logf("the policy: %s", out)
	return expect(err, out == "Waiting 0 0 0", "a policy that waits, with nothing scored, got %q", out)
}
