//go:build e2e

package server_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// lockWaits: an ADD of the real Calico that waits for its IPAM lock is seen while it waits, and not afterwards.
func lockWaits(t *testing.T, s *stage.Stage) {
	ctx := t.Context()
	n, err := s.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := host.New(host.Options{Root: n.Path("/"), Proc: n.Path("/proc")})
	t.Cleanup(h.Close)
	becomes := func(waiting bool) {
		t.Helper()
		if err := lab.Eventually(ctx, 90*time.Second, func(context.Context) error {
			l, err := h.IPAMLock()
			if err != nil || (l.Waiting > 0) != waiting {
				return fmt.Errorf("%+v, want waiting %t: %w", l, waiting, err)
			}
			t.Logf("%+v", l)
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	becomes(false)
	if _, err := n.Exec(ctx, "sh", "-c", "flock /var/run/calico/ipam.lock sh -c 'while [ ! -e /tmp/lock-is-free ]; do sleep 0.2; done' >/dev/null 2>&1 &"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, stage.PodSpec{Name: "waits", Node: "node1"})
		done <- err
	}()
	becomes(true)
	if _, err := n.Exec(ctx, "touch", "/tmp/lock-is-free"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	becomes(false)
}
