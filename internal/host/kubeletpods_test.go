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
		process, dir, config string
		args                 []string
	}{
		"kubeadm":        {process: "kubelet", dir: "/var/lib/kubelet"},
		"k0s":            {process: "kubelet", dir: "/var/lib/k0s/kubelet"},
		"microk8s":       {process: "kubelite", dir: "/var/snap/microk8s/common/var/lib/kubelet"},
		"k3s":            {process: "k3s-server", dir: "/data/kubelet", args: []string{"server", "--kubelet-arg=root-dir=/data/kubelet"}},
		"its own choice": {process: "kubelet", dir: "/data/kubelet", config: `KUBELET_EXTRA_ARGS="--root-dir=/data/kubelet --v=2"`},
		"its argument":   {process: "kubelet", dir: "/data/kubelet", args: []string{"--root-dir=/data/kubelet"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, h := newTree(t)
			tr.kubelet(60, 500, c.process, append([]string{"/usr/bin/" + c.process}, c.args...)...)
			must := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			// The usual directory is there too, from the first boot.
			must(os.MkdirAll(filepath.Join(h.o.Root, "/var/lib/kubelet/pods"), 0o755))
			must(os.MkdirAll(filepath.Join(h.o.Root, c.dir, "pods", uid), 0o755))
			if c.config != "" {
				must(os.MkdirAll(filepath.Join(h.o.Root, "/etc/default"), 0o755))
				must(os.WriteFile(filepath.Join(h.o.Root, "/etc/default/kubelet"), []byte(c.config), 0o600))
			}
			if has, err := h.KubeletHas(uid); !has || err != nil {
				t.Errorf("%v, %v", has, err)
			}
			if has, err := h.KubeletHas(other); has || err != nil {
				t.Errorf("another pod: %v, %v", has, err)
			}
			must(os.RemoveAll(filepath.Join(tr.dir, "60")))
			for _, uid := range []string{uid, other} {
				if has, err := h.KubeletHas(uid); err == nil {
					t.Errorf("the kubelet restarts, and the answer is %t", has)
				}
			}
		})
	}
	tr, h := newTree(t)
	tr.kubelet(60, 500, "kubelet", "/usr/bin/kubelet")
	if has, err := h.KubeletHas(uid); err == nil {
		t.Errorf("no kubelet's directory is there, and it says %t", has)
	}
	for _, bad := range []string{"", "..", "../../etc", "a/b"} {
		if _, err := h.KubeletHas(bad); err == nil {
			t.Errorf("%q is taken for a UID", bad)
		}
	}
}
