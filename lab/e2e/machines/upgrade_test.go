//go:build e2e

package machines

import (
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/stage"
)

// TestUpgrade: containerd and the kubelet are replaced under running pods. The pods go on,
// nothing is falsely confirmed, and afterwards everything is read again.
func TestUpgrade(t *testing.T) {
	b := start(t, 1)
	b.clean()
	before := b.pods[b.machine.Name]
	b.during("containerd", func() error { return b.machine.UpgradeContainerd(t.Context()) })
	version, err := b.machine.Exec(t.Context(), "sh", "-c", "readlink /proc/$(systemctl show --property=MainPID --value containerd)/exe")
	if err != nil || !strings.Contains(version, "/opt/plumbline-lab/") {
		t.Errorf("containerd runs from %q, %v", version, err)
	}
	b.during("the kubelet", func() error { return b.machine.ReplaceKubelet(t.Context()) })
	after := b.pods[b.machine.Name]
	if after.Metadata.UID != before.Metadata.UID || after.Status.PodIP != before.Status.PodIP {
		t.Errorf("the pod was %+v and is %+v", before.Status, after.Status)
	}
	out, err := b.Kubectl(t.Context(), "-n", namespace, "get", "pod", after.Metadata.Name, "-o", "jsonpath={.status.containerStatuses[*].restartCount}")
	if err != nil || out != "0" {
		t.Errorf("its container was restarted %s times, %v", out, err)
	}
}

// during requires that nothing is confirmed about pods or addresses while a part is replaced,
// and that all is clean afterwards.
func (b *bench) during(what string, replace func() error) {
	b.t.Helper()
	done := make(chan error, 1)
	go func() { done <- replace() }()
	for checks := 0; ; checks++ {
		r, err := stage.CheckWith(b.t.Context(), b.Lab, b.bin, b.state, "--settle=20s")
		if err != nil {
			b.t.Fatal(err)
		}
		for _, f := range r.Findings {
			if strings.HasPrefix(f.Name, "PL9001/") { // the runtime was not there: said, and nothing else
				continue
			}
			b.t.Errorf("while %s is replaced: %s: %s", what, f.Name, f.Summary)
		}
		if len(done) > 0 && checks >= 10 {
			break
		}
		time.Sleep(3 * time.Second)
	}
	if err := <-done; err != nil {
		b.t.Fatal(err)
	}
	b.eventually("the node", 2*time.Minute, b.machine.Ready)
	b.podsReady()
	b.connected()
	b.clean()
}
