//go:build e2e

package machines

import (
	"context"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/stage"
)

// TestNFS: an NFS server stops answering while a pod and a process of the node read from it.
// The mount is found, with the pod that it holds; everything else goes on; and when the server
// answers again all is clean.
func TestNFS(t *testing.T) {
	b := start(t, 1)
	ctx := t.Context()
	if err := b.StartNFS(ctx); err != nil {
		t.Fatal(err)
	}
	if err := b.machine.MountNFS(ctx, stage.HangDir); err != nil {
		t.Fatal(err)
	}
	reader := stage.PodSpec{Name: "reader", Node: b.machine.Name, Args: []string{"read", "/hang/data"}, HostPath: stage.HangDir}
	if _, err := b.stage().Run(ctx, reader); err != nil {
		t.Fatal(err)
	}
	b.clean()
	if err := b.FreezeNFS(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.ThawNFS(context.WithoutCancel(ctx)) }()
	if _, err := b.machine.Exec(ctx, "systemd-run", "--unit=on-node", "cat", stage.HangDir+"/data"); err != nil {
		t.Fatal(err)
	}
	b.hung("reader")
	if _, err := b.Kubectl(ctx, "-n", namespace, "delete", "pod", reader.Name, "--wait=false"); err != nil {
		t.Fatal(err)
	}
	b.hung("reader")
	b.connected()
	if err := b.ThawNFS(ctx); err != nil {
		t.Fatal(err)
	}
	b.eventually("the pod to go", 2*time.Minute, func(ctx context.Context) error { return b.stage().WaitGone(ctx, reader.Name) })
	b.clean()
}

// hung requires that the NFS mount is the only finding, that it names the pod, that every table
// was read, and that the answer does not wait for the mount.
func (b *bench) hung(pod string) {
	b.t.Helper()
	b.eventually("the mount that hangs", 2*time.Minute, func(ctx context.Context) error {
		r, err := stage.CheckWith(ctx, b.Lab, b.bin, b.state, "--wait", "--settle=20s")
		if err != nil {
			return err
		}
		if err := stage.Expect(len(r.Findings) == 1 && len(r.NotChecked) == 0, "one finding and everything checked, got %+v, not checked %+v", r.Findings, r.NotChecked); err != nil {
			return err
		}
		f := r.Findings[0]
		return stage.Expect(strings.HasPrefix(f.Name, "PL4004/"+b.machine.Name+"/") && strings.Contains(f.Summary, "nfs does not answer") && strings.Contains(f.Summary, pod),
			"the NFS mount, used by %s, got %s: %s", pod, f.Name, f.Summary)
	})
	began := time.Now()
	out, diag, err := b.said("explain", "node", b.machine.Name)
	if took := time.Since(began); err != nil || took > 10*time.Second {
		b.t.Errorf("explain node took %s: %v\n%s%s", took, err, out, diag)
	}
}
