//go:build e2e

package gate

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// probe: without agents, short-lived pods report node state. None of them remains, even
// if the command is killed while they run.
func probe(t *testing.T, l *lab.Lab) {
	ctx := t.Context()
	product.InstallAgents(t, l) // for the image
	image, err := l.Kubectl(ctx, "-n", lab.AgentNamespace, "get", "daemonset", "plumbline-agent", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	if err != nil {
		t.Fatal(err)
	}
	product.RemoveAgents(t, l)
	bin, state := product.Binary(t), t.TempDir()
	args := []string{"--probe", "--probe-image=" + image}
	sc := stage.Scenario{Name: "probe", Run: func(ctx context.Context, s *stage.Stage) error {
		pod, err := s.WithoutProxyARP(ctx, "victim")
		if err != nil {
			return err
		}
		// The fault has no timestamp: two runs prove its duration.
		var r stage.Report
		for range 2 {
			began := time.Now()
			if r, err = stage.CheckWith(ctx, l, bin, state, append(args, "--settle=2s")...); err != nil {
				return err
			}
			t.Logf("check --probe took %s: %v", time.Since(began).Round(100*time.Millisecond), r.Names())
			time.Sleep(2 * time.Second)
		}
		// Only an agent that stays follows the kubelet's log, and a probe has no NET_ADMIN.
		r.NotChecked = slices.DeleteFunc(r.NotChecked, func(c struct{ Table, Reason string }) bool { return c.Table == "faileddels" || c.Table == "firewall" })
		return stage.Expect(len(r.Names()) == 1 && r.Names()[0] == "PL3005/"+s.Namespace+"/"+pod.Metadata.Name && len(r.NotChecked) == 0, "PL3005 alone, got %v, unconfirmed %v, not checked %v", r.Names(), r.Unconfirmed, r.NotChecked)
	}}
	if err := stage.Play(ctx, l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
	none(t, l, "after a check")
	killed, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(killed, bin, append([]string{"check"}, args...)...)
	cmd.Env = append(l.Env(), "XDG_STATE_HOME="+state)
	_ = cmd.Run()
	if left := probePods(t, l); len(left) == 0 {
		t.Log("the killed command left no pod")
	}
	if err := lab.Eventually(ctx, 60*time.Second, func(ctx context.Context) error { // its pods end by themselves
		out, err := l.Kubectl(ctx, "-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/component=probe", "--field-selector=status.phase!=Succeeded", "-o", "name")
		if err != nil {
			return err
		}
		return stage.Expect(strings.TrimSpace(out) == "", "no running probe, got %s", out)
	}); err != nil {
		t.Error(err)
	}
	if _, err := stage.CheckWith(ctx, l, bin, state, args...); err != nil {
		t.Fatal(err)
	}
	none(t, l, "after the next check")
}

func probePods(t *testing.T, l *lab.Lab) []string {
	t.Helper()
	out, err := l.Kubectl(t.Context(), "-n", "kube-system", "get", "pods", "-l", "app.kubernetes.io/component=probe", "-o", "name")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(out)
}

func none(t *testing.T, l *lab.Lab, when string) {
	t.Helper()
	err := lab.Eventually(t.Context(), 20*time.Second, func(context.Context) error {
		left := probePods(t, l)
		return stage.Expect(len(left) == 0, "no probe %s, got %v", when, left)
	})
	if err != nil {
		t.Error(err)
	}
}
