//go:build e2e

package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
)

// TestShadow: orphan handles are decided about, and a decision is right once somebody has deleted the handle. The controller
// deletes none, and nobody else writes the score.
func TestShadow(t *testing.T) {
	b := start(t, lab.KDD, 1)
	ctx := t.Context()
	if err := b.Apply(ctx, policyManifest); err != nil {
		t.Fatal(err)
	}
	orphans := map[string]string{"removed": strings.Repeat("ab", 32), "kept": strings.Repeat("cd", 32)}
	for _, id := range orphans {
		if err := b.Apply(ctx, handle(id)); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want string) func(context.Context) error {
		return func(ctx context.Context) error {
			out, err := b.Kubectl(ctx, "get", "repairpolicy", "leaks", "-o", "jsonpath={.status.state} {.status.open} {.status.right} {.status.wrong}")
			return expect(err, out == want, "%s, got %s", want, out)
		}
	}
	b.eventually("two decisions", 3*time.Minute, is("Shadow 2 0 0"))
	if out, err := b.Kubectl(ctx, "delete", "ipamhandles.crd.projectcalico.org", "k8s-pod-network."+orphans["removed"]); err != nil {
		t.Fatal(out, err)
	}
	b.eventually("it was right", 6*time.Minute, is("Shadow 1 1 0"))
	shown, err := b.Kubectl(ctx, "get", "repairpolicies", "-o", "wide")
	t.Logf("kubectl get repairpolicies: %v\n%s", err, shown)
	shown, err = b.Kubectl(ctx, "get", "repairpolicy", "leaks", "-o", "yaml")
	if err != nil || !strings.Contains(shown, orphans["removed"]) || !strings.Contains(shown, "outcome: Right") {
		t.Errorf("%v\n%s", err, shown)
	}
	out, err := b.Kubectl(ctx, "patch", "repairpolicy", "leaks", "--subresource=status", "--type=merge", "-p", `{"status":{"right":50}}`)
	if err == nil || !strings.Contains(err.Error(), "only plumbline-controller writes findings, and the status of repair policies") {
		t.Errorf("somebody else wrote a score: %v %s", err, out)
	}
	if out, err := b.Kubectl(ctx, "get", "ipamhandles.crd.projectcalico.org", "k8s-pod-network."+orphans["kept"]); err != nil {
		t.Errorf("the controller removed something: %v %s", err, out)
	}
}

func handle(id string) string {
	return `apiVersion: crd.projectcalico.org/v1
kind: IPAMHandle
metadata: {name: k8s-pod-network.` + id + `}
spec: {handleID: k8s-pod-network.` + id + `, block: {}, deleted: false}
`
}
