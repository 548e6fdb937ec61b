//go:build e2e

package controller

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/kube/own"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// TestLabDeletedByOthers: a finding that somebody deletes is written again, also one that cannot be checked just now, of
// which nothing changes that would be written.
func TestLabDeletedByOthers(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.KDD})
	permitted(t, l)
	client, err := kube.Connect(kube.Options{Kubeconfig: product.KubeconfigOf(t, l, lab.AgentNamespace, "plumbline-controller")})
	if err != nil {
		t.Fatal(err)
	}
	store, err := own.New(client, "controller-0")
	if err != nil {
		t.Fatal(err)
	}
	p := newPublisher(store, slog.Default(), nil, func() {})
	p.relist = time.Second
	p.answerNext = func(context.Context) bool { return false }
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go p.run(ctx)

	now := v1alpha1.Time{Time: time.Now().Truncate(time.Second)}
	f := v1alpha1.Finding{Spec: v1alpha1.FindingSpec{Code: "PL1002", In: v1alpha1.FindingGroup{Kind: "Cluster"}}, Status: v1alpha1.FindingStatus{
		State: v1alpha1.StateNotChecked, Severity: "error", What: "what it means", Count: 1, NotChecked: 1, FirstSeen: now, LastSeen: now,
	}}
	f.APIVersion, f.Kind, f.Name = "plumbline.dev/v1alpha1", "Finding", "pl1002"
	p.publish([]v1alpha1.Finding{f}, nil)
	const at = "/apis/plumbline.dev/v1alpha1/findings"
	there := func(want string) {
		t.Helper()
		err := lab.Eventually(ctx, 3*time.Minute, func(ctx context.Context) error { // an object is written once a minute
			text, err := l.Do(ctx, http.MethodGet, at, "")
			var all v1alpha1.FindingList
			if err == nil {
				err = json.Unmarshal(text, &all)
			}
			if err != nil {
				return err
			}
			got := ""
			for _, f := range all.Items {
				got += f.Name + " " + f.Status.State + " "
			}
			return stage.Expect(got == want, "%q, got %q", want, got)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	there("pl1002 NotChecked ")
	if _, err := l.Do(ctx, http.MethodDelete, at+"/pl1002", ""); err != nil {
		t.Fatal(err)
	}
	there("pl1002 NotChecked ")
}
