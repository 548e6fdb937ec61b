//go:build e2e

package gate

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
)

// parts checks that a test can reach and disturb each part of a node.
func parts(t *testing.T, l *lab.Lab) {
	ctx := t.Context()
	n, err := l.Node(ctx, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := n.Exec(ctx, "hostname"); err != nil || got != "node2\n" {
		t.Errorf("exec: %q, %v", got, err)
	}
	for _, part := range []string{lab.Kubelet, lab.Containerd, lab.KubeProxy, lab.Felix, "cni"} {
		if st, err := os.Stat(n.Log(part)); err != nil || st.Size() == 0 {
			t.Errorf("log of %s: %v", part, err)
		}
	}
	plugins, config, results := n.CNIDirs()
	for _, f := range []string{filepath.Join(plugins, "calico-ipam"), filepath.Join(config, "10-calico.conflist"), filepath.Join(results, "results")} {
		if _, err := os.Lstat(f); err != nil {
			t.Error(err)
		}
	}
	for _, part := range []string{lab.Kubelet, lab.KubeProxy, lab.Felix, lab.Containerd} {
		if err := n.Restart(ctx, part); err != nil {
			t.Errorf("restart %s: %v", part, err)
		}
	}
	if err := lab.Eventually(ctx, time.Minute, func(context.Context) error { return dial(n) }); err != nil {
		t.Errorf("CRI socket: %v", err)
	}
	t.Run("kill and start", func(t *testing.T) {
		if err := n.Kill(ctx, lab.Containerd); err != nil {
			t.Fatal(err)
		}
		if dial(n) == nil {
			t.Error("a killed runtime answers")
		}
		if err := n.Start(ctx, lab.Containerd); err != nil {
			t.Fatal(err)
		}
		if err := lab.Eventually(ctx, time.Minute, func(context.Context) error { return dial(n) }); err != nil {
			t.Errorf("a started runtime does not answer: %v", err)
		}
	})
	t.Run("freeze and thaw", func(t *testing.T) {
		if err := n.Freeze(ctx, lab.Containerd); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		if _, err := n.Ctr(short, "version"); !errors.Is(short.Err(), context.DeadlineExceeded) {
			t.Errorf("a frozen runtime answers: %v", err)
		}
		if err := n.Thaw(ctx, lab.Containerd); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Ctr(ctx, "version"); err != nil {
			t.Errorf("a thawed runtime does not: %v", err)
		}
	})
	if err := lab.Eventually(ctx, time.Minute, n.Ready); err != nil {
		t.Error(err)
	}
}

func dial(n *lab.Node) error {
	c, err := net.DialTimeout("unix", n.CRISocket(), time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}
