//go:build linux

package kernel_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// TestRootSensesRefuseAnotherNamespace: in a pod's network we would take it for the host's.
func TestRootSensesRefuseAnotherNamespace(t *testing.T) {
	if !alone(t) {
		return
	}
	err := lost(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return err
		}
		for _, s := range kernel.Collectors(kernel.Options{}) {
			if err := s.Read(t.Context(), &model.NodeState{}); err == nil || !strings.Contains(err.Error(), "not in the host's network namespace") {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := kernel.Watch(ctx, kernel.Options{}, kernel.Listener{Changed: func(uint64, ...model.Table) { t.Error("told of a change") }, Heard: func(kernel.Written) {}, Listens: func(func() bool) {}}); err == nil {
			t.Error("watches")
		}
		return nil
	})
	must(t, err)
}

// TestRootWithoutProcfsNothingIsClaimed: where we cannot see, we say so.
func TestRootWithoutProcfsNothingIsClaimed(t *testing.T) {
	if !alone(t) {
		return
	}
	body := &observe.NodeReader{Node: "n", Within: 5 * time.Second, Collectors: kernel.Collectors(kernel.Options{Proc: t.TempDir()})}
	_, coverage := body.Read(t.Context())
	if len(coverage) != 8 {
		t.Errorf("%+v", coverage)
	}
	for _, c := range coverage {
		if c.State == model.Complete || c.Reason == "" {
			t.Errorf("%+v", c)
		}
	}
}
