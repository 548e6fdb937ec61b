//go:build e2e

package controller

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// TestFinding: a fault becomes a finding and an Event in time; the next leader has it as it was, and
// sees when it is gone; nothing else was written, and nobody else may write it.
func TestFinding(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) { fault(t, start(t, mode, 2)) })
	}
}

const name = "pl1002-namespace-watched"

func fault(t *testing.T, b *bench) {
	ctx := t.Context()
	b.eventually("a leader", 90*time.Second, func(ctx context.Context) error {
		who, err := b.leader(ctx)
		return expect(err, who != "", "a leader")
	})
	sc := stage.Scenario{Name: "watched", Run: func(ctx context.Context, s *stage.Stage) error {
		pod, err := s.Run(ctx, stage.PodSpec{Name: "freed", Node: "node1"})
		if err != nil {
			return err
		}
		if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
			return err
		}
		was := b.becomes("Confirmed", settle+2*time.Minute)
		if len(was.Status.Samples) != 1 || was.Status.Samples[0].Subject != pod.Status.PodIP || was.Status.Severity != "error" {
			t.Errorf("the finding is %+v", was)
		}
		b.told("Confirmed")
		shown, err := b.Kubectl(ctx, "get", "findings")
		t.Logf("kubectl get findings: %v\n%s", err, shown)
		if b.Datastore == lab.Etcd { // the kinds of datastore do not differ in what follows, and it takes two minutes
			return b.accept(ctx, pod.Status.PodIP)
		}
		b.succession(ctx, was)
		return nil
	}}
	if err := stage.Play(ctx, b.Lab, sc, stage.Options{Tell: func(s string) { t.Log(s) }}); err != nil {
		t.Fatal(err)
	}
	b.becomes("Resolved", 3*time.Minute)
	if b.Datastore == lab.Etcd {
		b.rights()
		b.told("Confirmed", "Suppressed", "Confirmed", "Resolved")
	} else {
		b.told("Confirmed", "Resolved")
	}
	b.onlyItsOwn()
	out, err := b.Kubectl(ctx, "patch", "finding", name, "--subresource=status", "--type=merge", "-p", `{"status":{"count":7}}`)
	if err == nil || !strings.Contains(err.Error(), "only plumbline-controller writes findings") {
		t.Errorf("somebody else wrote a finding: %v %s", err, out)
	}
}

func (b *bench) told(want ...string) {
	b.t.Helper()
	b.eventually("events "+strings.Join(want, ", "), 2*time.Minute, func(ctx context.Context) error {
		got, err := b.events(ctx, name)
		return expect(err, slices.Equal(strings.Fields(got), want), "events %q, got %q", want, got)
	})
}

// succession kills the leader: another leads within half a minute, with the same finding.
func (b *bench) succession(ctx context.Context, was finding) {
	b.t.Helper()
	old, err := b.leader(ctx)
	if err != nil || b.replicas[old] == nil {
		b.t.Fatalf("leader %q: %v", old, err)
	}
	if err := b.replicas[old].Process.Kill(); err != nil {
		b.t.Fatal(err)
	}
	b.eventually("the next leader", time.Minute, func(ctx context.Context) error {
		who, err := b.leader(ctx)
		return expect(err, who != old, "another leader than %s", old)
	})
	for range 10 { // it reads, judges, and writes if it must
		time.Sleep(time.Second)
		all, err := b.findings(ctx)
		if err != nil {
			continue
		}
		if is := all[name]; is.Metadata.UID != was.Metadata.UID || is.Status.State != "Confirmed" || is.Status.FirstSeen != was.Status.FirstSeen || is.Status.Count != was.Status.Count {
			b.t.Fatalf("%v: the finding is %+v, and was %+v", err, all[name], was)
		}
	}
}

func suppression(name, subject string, last time.Duration) string {
	return fmt.Sprintf(`apiVersion: plumbline.dev/v1alpha1
kind: Suppression
metadata: {name: %s}
spec: {code: PL1002, subject: %s, reason: known, owner: e2e, expires: %q}
`, name, subject, time.Now().Add(last).UTC().Format(time.RFC3339))
}

// accept suppresses the finding for a while.
func (b *bench) accept(ctx context.Context, subject string) error {
	b.t.Helper()
	if err := b.Apply(ctx, suppression("known", subject, time.Hour)+"---\n"+suppression("forever", subject, 1000*24*time.Hour)); err != nil {
		return err
	}
	b.becomes("Suppressed", 2*time.Minute)
	b.eventually("answers", 2*time.Minute, func(ctx context.Context) error {
		out, err := b.Kubectl(ctx, "get", "suppressions", "-o", "jsonpath={range .items[*]}{.metadata.name}={.status.state} {end}")
		return expect(err, strings.TrimSpace(out) == "forever=Refused known=Active", "what is accepted, got %s", out)
	})
	shown, err := b.Kubectl(ctx, "get", "suppressions")
	if err != nil {
		return err
	}
	b.t.Logf("kubectl get suppressions:\n%s", shown)
	if _, err := b.Kubectl(ctx, "delete", "suppression", "known"); err != nil {
		return err
	}
	b.becomes("Confirmed", 2*time.Minute)
	return nil
}

// onlyItsOwn reads in the audit log what the controller wrote.
func (b *bench) onlyItsOwn() {
	b.t.Helper()
	log, err := os.ReadFile(b.AuditLog())
	if err != nil {
		b.t.Fatal(err)
	}
	wrote, proxied := map[string]int{}, 0
	var last, lastProxied time.Time
	for line := range bytes.Lines(log) {
		var r struct {
			Verb           string
			User           struct{ Username string }
			StageTimestamp time.Time
			ObjectRef      struct{ Resource, Subresource, Namespace, Name string }
		}
		if json.Unmarshal(line, &r) != nil || r.User.Username != "system:serviceaccount:"+lab.AgentNamespace+":plumbline-controller" {
			continue
		}
		o, at := r.ObjectRef, r.StageTimestamp
		last = at
		switch what := strings.TrimSuffix(o.Resource+"/"+o.Subresource, "/"); {
		case what == "pods/proxy":
			proxied++
			lastProxied = at
		case r.Verb == "get" || r.Verb == "list" || r.Verb == "watch":
		case what == "findings" || what == "findings/status" || what == "suppressions/status" || what == "repairpolicies/status" || what == "events" && r.Verb == "create":
			wrote[r.Verb+" "+what]++
		case what == "leases" && (o.Name == "plumbline-controller" || r.Verb == "create"), what == "serviceaccounts/token" && o.Name == "plumbline-reader":
			wrote[r.Verb+" "+what]++
		default:
			b.t.Errorf("the controller sent %s %s %s/%s", r.Verb, what, o.Namespace, o.Name)
		}
	}
	b.t.Logf("the controller wrote %v, and asked agents %d times through the API server", wrote, proxied)
	// At first an agent may not be ready to be watched; it is tried again each half minute.
	if proxied > 0 && last.Sub(lastProxied) < 45*time.Second || wrote["create serviceaccounts/token"] == 0 {
		b.t.Errorf("agents are not watched directly")
	}
	if wrote["create findings"] == 0 || wrote["update findings/status"] == 0 || wrote["create events"] == 0 {
		b.t.Errorf("the audit log does not have what it must have written: %v", wrote)
	}
}

// expect is err, or that something is not as it must be.
func expect(err error, ok bool, format string, args ...any) error {
	return cmp.Or(err, stage.Expect(ok, format, args...))
}
