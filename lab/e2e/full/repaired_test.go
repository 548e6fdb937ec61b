//go:build e2e

package full

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// repaired frees the address of a running pod in Calico's datastore and takes proxy_arp from its
// device, and has both repaired, with these flags: one write to the datastore, one by an agent.
func repaired(t *testing.T, l *lab.Lab, args ...string) {
	t.Helper()
	bin, state := product.Binary(t), t.TempDir()
	plumbline := func(ctx context.Context, command ...string) (string, error) {
		out, code, err := stage.Plumbline(ctx, l, bin, state, append(command, args...)...)
		t.Logf("%s: exit code %d\n%s", strings.Join(command, " "), code, out)
		if err == nil {
			err = stage.Expect(code == 0, "exit code 0 of %s, got %d", command[0], code)
		}
		return out, err
	}
	sc := stage.Scenario{Name: "repaired", Run: func(ctx context.Context, s *stage.Stage) error {
		pod, err := s.WithoutProxyARP(ctx, "freed")
		if err != nil {
			return err
		}
		if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
			return err
		}
		_, _, _ = stage.Plumbline(ctx, l, bin, state, append([]string{"check", "--settle=2s", "--wait"}, args...)...)
		time.Sleep(3 * time.Second)
		plan := filepath.Join(state, "plan.yaml")
		out, err := plumbline(ctx, "plan", "--settle=2s", "--save="+plan)
		if err != nil {
			return err
		}
		if err := stage.Expect(strings.Contains(out, ": 2 findings") && strings.Contains(out, "proxy_arp"), "both findings in the plan"); err != nil {
			return err
		}
		if _, err := plumbline(ctx, "apply", "--max-risk=disruptive", "--journal=cluster", "-f", plan); err != nil {
			return err
		}
		_, err = plumbline(ctx, "check", "--settle=2s", "--wait")
		return err
	}}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
}
