//go:build e2e

package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/kube"
)

func (e *edge) lease(t *testing.T, c *kube.Client, ns string) {
	first, second := writing(t, c), writing(t, c)
	l, err := first.Acquire(t.Context(), "anna@laptop")
	if err != nil {
		t.Fatal(err)
	}
	at := leaseAt(ns) + "/" + leaseName
	held := e.leaseNow(t, at)
	if !strings.HasPrefix(held.Spec.HolderIdentity, "anna@laptop_") || held.Spec.LeaseDurationSeconds != 30 {
		t.Errorf("%+v", held)
	}
	if _, err := second.Acquire(t.Context(), "bert@desk"); !errors.Is(err, errHeld) || !strings.Contains(err.Error(), "by anna@laptop since "+held.Spec.AcquireTime) {
		t.Errorf("a second holder: %v", err)
	}
	e.wait("it is renewed", func() error {
		if now := e.leaseNow(t, at); now.Spec.RenewTime == held.Spec.RenewTime || now.Spec.AcquireTime != held.Spec.AcquireTime {
			return fmt.Errorf("%+v", now.Spec)
		}
		return nil
	})
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err = second.Acquire(t.Context(), "bert@desk")
	if err != nil {
		t.Fatalf("after a release: %v", err)
	}
	// Somebody takes it by force: the holder must know.
	e.force(t, at, "carl", time.Now())
	select {
	case <-l.lost:
	case <-time.After(time.Minute):
		t.Error("it is not lost")
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if now := e.leaseNow(t, at); now.Spec.HolderIdentity != "carl" {
		t.Errorf("a lease that was lost is taken from %+v", now.Spec)
	}
	e.force(t, at, "carl", time.Now().Add(-15*time.Second))
	if _, err := first.Acquire(t.Context(), "anna@laptop"); !errors.Is(err, errHeld) {
		t.Errorf("15 seconds without renewal: %v", err)
	}
	e.force(t, at, "carl", time.Now().Add(-35*time.Second))
	ctx, cancel := context.WithCancel(t.Context())
	l, err = first.Acquire(ctx, "anna@laptop")
	if err != nil {
		t.Fatalf("35 seconds without renewal: %v", err)
	}
	if now := e.leaseNow(t, at); now.Spec.LeaseTransitions < 2 {
		t.Errorf("%+v", now.Spec)
	}
	cancel()
	if err := l.Release(ctx); err != nil {
		t.Errorf("after the end: %v", err)
	}
	if now := e.leaseNow(t, at); now.Spec.HolderIdentity != "" {
		t.Errorf("%+v", now.Spec)
	}
}

func (e *edge) leaseNow(t *testing.T, at string) leaseObject {
	t.Helper()
	var o leaseObject
	if err := e.l.Get(t.Context(), at, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func (e *edge) force(t *testing.T, at, holder string, renewed time.Time) {
	t.Helper()
	for {
		o := e.leaseNow(t, at)
		o.Spec.HolderIdentity, o.Spec.RenewTime = holder, renewed.UTC().Format(microTime)
		b, _ := json.Marshal(o)
		if _, err := e.l.Do(t.Context(), "PUT", at, string(b)); err == nil {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the lease cannot be taken")
		}
	}
}

func (e *edge) killSwitch(t *testing.T) {
	w := writing(t, e.admin)
	if err := w.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := Switch{Stopped: w.Stop}
	if err := s.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	ns := "kube-system"
	if _, err := e.l.Do(t.Context(), "GET", "/api/v1/namespaces/plumbline-system", ""); err == nil {
		ns = "plumbline-system"
	}
	at := "/api/v1/namespaces/" + ns + "/configmaps"
	e.do("POST", at, `{"metadata":{"name":"plumbline-stop"},"data":{"reason":"audit until noon"}}`)
	thrown := time.Now()
	if err := w.Stop(t.Context()); !errors.Is(err, errStopped) || !strings.Contains(err.Error(), ns+"/plumbline-stop: audit until noon") {
		t.Errorf("%v", err)
	}
	for s.Ask(t.Context()) == nil {
		time.Sleep(20 * time.Millisecond)
	}
	if took := time.Since(thrown); took > 30*time.Second {
		t.Errorf("seen after %s", took)
	}
	e.do("DELETE", at+"/plumbline-stop", "")
	if err := w.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
