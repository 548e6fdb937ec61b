package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRuntimeSocket(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"kind: KubeletConfiguration\ncontainerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n":               "/run/containerd/containerd.sock",
		`{"containerRuntimeEndpoint": "unix:///var/run/crio/crio.sock", "x": 1}`:                                       "/var/run/crio/crio.sock",
		"containerRuntimeEndpoint: \"\"\n":                                                                             "",
		"kind: KubeletConfiguration\n":                                                                                 "",
		`KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/crio/crio.sock --pod-infra-container-image=x"`: "/run/crio/crio.sock",
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "var/lib/kubelet"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "var/lib/kubelet/config.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := New(Options{Root: root}).RuntimeSocket(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
