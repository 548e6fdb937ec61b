//go:build e2e

package repair

import (
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// TestHarmIsSeen breaks a healthy pod, as no repair may, and requires that the
// measurement reports it.
func TestHarmIsSeen(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 2, Datastore: lab.KDD})
	ctx := t.Context()
	h, err := stage.NewHarm(ctx, l, func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(ctx, nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	if toll, err := h.Stop(ctx); err != nil || toll.Asked < 100 {
		t.Fatalf("harm without a fault: %s, %v", toll, err)
	}
	if err := h.Start(ctx, nil); err != nil {
		t.Fatal(err)
	}
	pod, err := l.Pod(ctx, "bystanders", "asked-node1")
	if err != nil {
		t.Fatal(err)
	}
	node, err := l.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := node.Exec(ctx, "ip", "route", "del", pod.Status.PodIP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(4 * time.Second)
	toll, err := h.Stop(ctx)
	if err == nil || toll.Lost == 0 {
		t.Fatalf("a route was deleted and nothing lost: %s, %v", toll, err)
	}
	for _, want := range []string{"no request lost", "want bystanders/asked-node1 unchanged", "connection broken"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the report does not contain %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "asked-node2 unchanged") {
		t.Errorf("the report names another pod: %v", err)
	}
}
