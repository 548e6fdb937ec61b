//go:build e2e

package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// TestAway: in modes off and observe everything is as if the guard were not there, however slow
// Calico's plugin is; and a program that no longer runs is taken out again.
func TestAway(t *testing.T) {
	l := start(t, lab.Config{Nodes: 2, Datastore: lab.KDD}, "off")
	play := func(name string, run func(ctx context.Context, s *stage.Stage) error) {
		t.Helper()
		if err := stage.Play(t.Context(), l, stage.Scenario{Name: name, Run: run}, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
			t.Error(err)
		}
	}
	without := map[string]int{}
	play("guard-off", func(ctx context.Context, s *stage.Stage) error {
		return errors.Join(slow(ctx, s), writes(ctx, s, without))
	})
	switchTo(t, l, "observe")
	within := map[string]int{}
	play("guard-observe", func(ctx context.Context, s *stage.Stage) error {
		return errors.Join(slow(ctx, s), writes(ctx, s, within))
	})
	t.Logf("writes to Calico's objects without the guard %v, with it %v", without, within)
	if len(without) == 0 || fmt.Sprint(without) != fmt.Sprint(within) {
		t.Errorf("in observe Calico's objects are written otherwise: %v, without the guard %v", within, without)
	}
	switchTo(t, l, "enforce")
	play("guard-fails", func(ctx context.Context, s *stage.Stage) error { return fails(ctx, t, s) })
}

// slowness is how long Calico's plugin takes for an ADD; the kubelet waits for 4 minutes.
const slowness = 115 * time.Second

// slow makes Calico's plugin take that long for one pod: it starts at the first attempt.
func slow(ctx context.Context, s *stage.Stage) error {
	n, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	script := fmt.Sprintf(`cd /opt/cni/bin && mv calico calico.real && cat > calico.new <<'END' && chmod 755 calico.new && mv calico.new calico
#!/bin/bash
case "$CNI_COMMAND $CNI_ARGS" in "ADD "*K8S_POD_NAME=slow*) sleep %.0f;; esac
exec -a "$0" /opt/cni/bin/calico.real "$@"
END`, slowness.Seconds())
	if _, err := n.Exec(ctx, "sh", "-c", script); err != nil {
		return err
	}
	defer func() {
		_, _ = n.Exec(context.WithoutCancel(ctx), "mv", "/opt/cni/bin/calico.real", "/opt/cni/bin/calico")
	}()
	began := time.Now()
	if err := s.Apply(ctx, s.Manifest(stage.PodSpec{Name: "slow", Node: n.Name})); err != nil {
		return err
	}
	if err := lab.Eventually(ctx, slowness+time.Minute, func(ctx context.Context) error {
		phase, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "pod", "slow", "-o", "jsonpath={.status.phase}")
		if err != nil {
			return err
		}
		return stage.Expect(strings.TrimSpace(phase) == "Running", "the slow pod to run, it is %s", phase)
	}); err != nil {
		return err
	}
	took := time.Since(began)
	s.Say("a pod runs after %.0f s", took.Seconds())
	if err := stage.Expect(took >= slowness, "a plugin that takes %s, the pod ran after %s", slowness, took); err != nil {
		return err
	}
	failed, err := failedSandboxes(ctx, s)
	if err != nil {
		return err
	}
	return stage.Expect(len(failed) == 0, "the first attempt to succeed, got %q", failed)
}

// failedSandboxes returns what the kubelet says of pods of the namespace whose sandbox failed.
func failedSandboxes(ctx context.Context, s *stage.Stage) ([]string, error) {
	out, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "events", "--field-selector=reason=FailedCreatePodSandBox", "-o", `jsonpath={range .items[*]}{.count} {.involvedObject.name} {.message}{"\n"}{end}`)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == '\n' }), nil
}
