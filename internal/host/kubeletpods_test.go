package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKubeletHas(t *testing.T) {
	t.Parallel()
	const uid, other = "5f0f2c63-8ff2-4bf6-a3b4-0dbe5a5ad7a1", "5f0f2c63-8ff2-4bf6-a3b4-0dbe5a5ad7a2"
	for name, c := range map[string]struct {
		dir, config string
	}{
		"kubeadm":        {dir: "/var/lib/kubelet"},
		"k0s":            {dir: "/var/lib/k0s/kubelet"},
		"microk8s":       {dir: "/var/snap/microk8s/common/var/lib/kubelet"},
		"its own choice": {dir: "/data/kubelet", config: `KUBELET_EXTRA_ARGS="--root-dir=/data/kubelet --v=2"`},
	} {
		root := t.TempDir()
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		must(os.MkdirAll(filepath.Join(root, c.dir, "pods", uid), 0o755))
		if c.config != "" {
			must(os.MkdirAll(filepath.Join(root, "/etc/default"), 0o755))
			must(os.WriteFile(filepath.Join(root, "/etc/default/kubelet"), []byte(c.config), 0o600))
		}
		h := &Host{o: Options{Root: root}}
		if has, err := h.KubeletHas(uid); !has || err != nil {
			t.Errorf("%s: %v, %v", name, has, err)
		}
		if has, err := h.KubeletHas(other); has || err != nil {
			t.Errorf("%s: another pod: %v, %v", name, has, err)
		}
	}
	h := &Host{o: Options{Root: t.TempDir()}}
	if has, err := h.KubeletHas(uid); err == nil {
		t.Errorf("no kubelet's directory is there, and it says %t", has)
	}
	for _, bad := range []string{"", "..", "../../etc", "a/b"} {
		if _, err := h.KubeletHas(bad); err == nil {
			t.Errorf("%q is taken for a UID", bad)
		}
	}
}
