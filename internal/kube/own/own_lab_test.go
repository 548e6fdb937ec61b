//go:build e2e

package own

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

const crd = "../../../charts/plumbline/files/crds/plumbline.dev_findings.yaml"

// TestLabOwn writes findings to the real API server, as its schema wants them.
func TestLabOwn(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	ctx := t.Context()
	b, err := os.ReadFile(crd)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Apply(ctx, string(b)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=30s", "crd/findings.plumbline.dev"); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect(kube.Options{Kubeconfig: l.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(c, "controller-0")
	if err != nil {
		t.Fatal(err)
	}
	f := v1alpha1.NewFinding("pl1001-pool-default", v1alpha1.FindingSpec{Code: "PL1001", In: v1alpha1.FindingGroup{Kind: "Pool", Name: "default"}})
	made, err := s.Create(ctx, &f)
	if err != nil || made.UID == "" || made.ResourceVersion == "" {
		t.Fatalf("%+v, %v", made, err)
	}
	if _, err := s.Create(ctx, &f); !errors.Is(err, ErrConflict) {
		t.Errorf("a second one: %v", err)
	}
	now := v1alpha1.TimeOf(time.Now().Truncate(time.Second))
	yes := v1alpha1.NewCondition("Confirmed", true, now)
	yes.Reason = "Settled"
	made.Status = v1alpha1.FindingStatus{
		State: v1alpha1.StateConfirmed, Severity: "warning", What: "what it means", Count: 63_000, FirstSeen: now, LastSeen: now, Show: "kubectl plumbline check",
		Samples: []v1alpha1.FindingSample{{Subject: "10.0.0.1", Message: strings.Repeat("é", 128), Since: now}}, Conditions: []v1alpha1.Condition{yes},
	}
	wrote, err := s.SetStatus(ctx, made)
	if err != nil || wrote.Status.Count != 63_000 || !wrote.Status.FirstSeen.Equal(&now) {
		t.Fatalf("%+v, %v", wrote, err)
	}
	if _, err := s.SetStatus(ctx, made); !errors.Is(err, ErrConflict) {
		t.Errorf("an old revision: %v", err)
	}
	if err := s.Delete(ctx, made); !errors.Is(err, ErrConflict) {
		t.Errorf("deleted by an old revision: %v", err)
	}
	if err := s.Tell(ctx, wrote, true, "Confirmed", "PL1001: 2 in pool default", time.Now()); err != nil {
		t.Error(err)
	}
	if out, err := l.Kubectl(ctx, "describe", "finding", f.Name); err != nil || !strings.Contains(out, "Warning  Confirmed") || !strings.Contains(out, "plumbline-controller") {
		t.Errorf("describe: %v\n%s", err, out)
	}
	if out, err := l.Kubectl(ctx, "get", "pf"); err != nil || !strings.Contains(out, "SEVERITY") || !strings.Contains(out, "63000") {
		t.Errorf("get: %v\n%s", err, out)
	} else {
		t.Log(out)
	}
	all, err := s.List(ctx)
	if err != nil || len(all) != 1 || all[0].Status.Samples[0].Subject != "10.0.0.1" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.Delete(ctx, wrote); err != nil {
		t.Error(err)
	}
	if err := s.Delete(ctx, wrote); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
	wrong := v1alpha1.NewFinding("x", v1alpha1.FindingSpec{Code: "nonsense", In: v1alpha1.FindingGroup{Kind: "Pool"}})
	if _, err := s.Create(ctx, &wrong); err == nil || !strings.Contains(err.Error(), "422") {
		t.Errorf("a code that is none: %v", err)
	}
}
