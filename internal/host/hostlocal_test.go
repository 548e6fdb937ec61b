package host

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

func TestReadHostLocal(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	h := New(Options{Root: root})
	var f model.NodeState
	if err := h.readHostLocal(t.Context(), &f); !errors.Is(err, observe.ErrNotThere) {
		t.Errorf("without the plugin: %v", err)
	}
	write(t, root, "var/lib/cni/networks/k8s-pod-network/10.42.0.5", "abc\r\neth0")
	write(t, root, "var/lib/cni/networks/k8s-pod-network/fd00::5", "abc\neth0")
	write(t, root, "var/lib/cni/networks/k8s-pod-network/last_reserved_ip.0", "10.42.0.5")
	write(t, root, "var/lib/cni/networks/k8s-pod-network/lock", "")
	write(t, root, "var/lib/cni/networks/cbr0/10.43.0.9", "old")
	write(t, root, "var/lib/cni/networks/a-file", "x")
	if err := h.readHostLocal(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	got := map[netip.Addr]model.Reserved{}
	for _, r := range f.HostLocal {
		got[r.IP] = r
	}
	if len(f.HostLocal) != 3 || got[netip.MustParseAddr("10.42.0.5")].Sandbox != "abc" || got[netip.MustParseAddr("10.42.0.5")].Interface != "eth0" ||
		got[netip.MustParseAddr("fd00::5")].Network != "k8s-pod-network" || got[netip.MustParseAddr("10.43.0.9")].Interface != "" {
		t.Errorf("got %+v", f.HostLocal)
	}
}

// Whatever is in such a file, it is bounded, and a file that leads out of the node's root is not
// followed.
func TestHostLocalHostile(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	h := New(Options{Root: root})
	write(t, outside, "secret", "hunter2")
	write(t, root, "var/lib/cni/networks/n/10.0.0.1", strings.Repeat("x", 1<<20))
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "var/lib/cni/networks/n/10.0.0.2")); err != nil {
		t.Fatal(err)
	}
	var f model.NodeState
	err := h.readHostLocal(t.Context(), &f)
	for _, r := range f.HostLocal {
		if len(r.Sandbox) > 4096 || strings.Contains(r.Sandbox, "hunter2") {
			t.Errorf("%s: %d characters, %.20s", r.IP, len(r.Sandbox), r.Sandbox)
		}
	}
	if !errors.Is(err, observe.ErrPartial) {
		t.Errorf("a file that is too long: %v", err)
	}
}
