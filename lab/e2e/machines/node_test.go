//go:build e2e

package machines

import (
	"context"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
)

// TestNode: a machine is a node like any other, to Kubernetes, to Plumbline and to a
// test.
func TestNode(t *testing.T) {
	b := start(t, 1)
	b.connected()
	b.tables()
	b.guarded()
	b.clean()
	b.parts()
	b.podsReady()
	b.connected()
	b.clean()
	b.idle()
}

// parts: a test reaches and disturbs each part of a machine as it does in namespaces.
func (b *bench) parts() {
	ctx, n := b.t.Context(), b.machine
	if got, err := n.Exec(ctx, "hostname"); err != nil || strings.TrimSpace(got) != n.Name {
		b.t.Errorf("exec: %q, %v", got, err)
	}
	const odd = "a\x00b ü\n'\"$(reboot)"
	if err := n.WriteFile("/etc/a b/c", odd); err != nil {
		b.t.Error(err)
	}
	if got, err := n.Exec(ctx, "cat", "/etc/a b/c"); err != nil || got != odd {
		b.t.Errorf("a written file: %q, %v", got, err)
	}
	if _, err := n.Exec(ctx, "sh", "-c", "echo said >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit status 3: said") {
		b.t.Errorf("a failed command: %v", err)
	}
	for _, part := range []string{lab.Kubelet, lab.Containerd, lab.KubeProxy, lab.Felix, "cni"} {
		if text, err := n.ReadLog(ctx, part); err != nil || len(text) < 100 {
			b.t.Errorf("log of %s: %d bytes, %v", part, len(text), err)
		}
	}
	for _, part := range []string{lab.Kubelet, lab.KubeProxy, lab.Felix, lab.Containerd} {
		if err := n.Restart(ctx, part); err != nil {
			b.t.Errorf("restart %s: %v", part, err)
		}
	}
	answers := func(ctx context.Context) error { _, err := n.Ctr(ctx, "version"); return err }
	b.eventually("a restarted runtime", time.Minute, answers)
	if err := n.Kill(ctx, lab.Containerd); err != nil {
		b.t.Fatal(err)
	}
	if err := answers(ctx); err == nil {
		b.t.Error("a killed runtime answers")
	}
	if err := n.Start(ctx, lab.Containerd); err != nil {
		b.t.Fatal(err)
	}
	b.eventually("a started runtime", time.Minute, answers)
	if err := n.Freeze(ctx, lab.Containerd); err != nil {
		b.t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, b.Scale(2*time.Second))
	defer cancel()
	if err := answers(short); err == nil {
		b.t.Error("a frozen runtime answers")
	}
	if err := n.Thaw(ctx, lab.Containerd); err != nil {
		b.t.Fatal(err)
	}
	b.eventually("a thawed runtime", time.Minute, answers)
	b.eventually("the node", time.Minute, n.Ready)
}

// idle measures what a machine takes when nothing happens on it.
func (b *bench) idle() {
	const during = 30 * time.Second
	before, err := b.machine.Process()
	if err != nil {
		b.t.Fatal(err)
	}
	time.Sleep(during)
	after, err := b.machine.Process()
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("an idle machine: %.2f of a core, %d MB", (after.CPU-before.CPU).Seconds()/during.Seconds(), after.RSS>>20)
}
