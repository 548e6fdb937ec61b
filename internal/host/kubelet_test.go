package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// kubelet puts a kubelet with its arguments.
func (tr *tree) kubelet(pid, start int, name string, args ...string) {
	tr.t.Helper()
	tr.put(pid, name, 'S')
	tr.file(pid, "cmdline", strings.Join(args, "\x00")+"\x00")
	tr.restart(pid, start)
}

// The sockets of the distributions, as their kubelets are started. Seen in their sources and
// documents; only kubeadm's is run here.
func TestRuntimeSocketOfDistributions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		process string
		args    []string
		files   map[string]string
		want    string
	}{
		"kubeadm": {
			process: "kubelet", args: []string{"/usr/bin/kubelet", "--config=/var/lib/kubelet/config.yaml", "--container-runtime-endpoint=unix:///var/run/containerd/containerd.sock"},
			files: map[string]string{"/var/lib/kubelet/config.yaml": "containerRuntimeEndpoint: \"\"\n"},
			want:  "/var/run/containerd/containerd.sock",
		},
		"kubeadm 1.34": {
			process: "kubelet", args: []string{"/usr/bin/kubelet", "--config=/var/lib/kubelet/config.yaml"},
			files: map[string]string{"/var/lib/kubelet/instance-config.yaml": "containerRuntimeEndpoint: unix:///run/crio/crio.sock\n"},
			want:  "/run/crio/crio.sock",
		},
		"k0s": {
			process: "kubelet", args: []string{"/var/lib/k0s/bin/kubelet", "--root-dir=/var/lib/k0s/kubelet", "--config", "/run/k0s/kubelet/config.yaml"},
			files: map[string]string{"/run/k0s/kubelet/config.yaml": "containerRuntimeEndpoint: unix:///run/k0s/containerd.sock\n"},
			want:  "/run/k0s/containerd.sock",
		},
		"microk8s": {
			process: "kubelite", args: []string{"/snap/microk8s/8000/kubelite", "--kubelet-args-file=/var/snap/microk8s/8000/args/kubelet"},
			files: map[string]string{"/var/snap/microk8s/8000/args/kubelet": "--cgroup-driver=cgroupfs\n--container-runtime-endpoint=${SNAP_COMMON}/run/containerd.sock\n"},
			want:  "/var/snap/microk8s/common/run/containerd.sock",
		},
		"k3s":             {process: "k3s-server", args: []string{"/usr/local/bin/k3s server"}, want: "/run/k3s/containerd/containerd.sock"},
		"k3s with docker": {process: "k3s-agent", args: []string{"/usr/local/bin/k3s agent", "--docker"}},
		"rke2":            {process: "kubelet", args: []string{"kubelet", "--container-runtime-endpoint=unix:///run/k3s/containerd/containerd.sock"}, want: "/run/k3s/containerd/containerd.sock"},
		"flatcar":         {process: "kubelet", files: map[string]string{"/etc/kubernetes/kubelet.env": "ARGS=--container-runtime-endpoint=/run/docker/containerd/containerd.sock\n"}, want: "/run/docker/containerd/containerd.sock"},
		"not said":        {process: "kubelet", args: []string{"kubelet", "--config=/none"}},
	} {
		t.Run(name, func(t *testing.T) {
			tr, h := newTree(t)
			tr.kubelet(60, 500, c.process, c.args...)
			for file, text := range c.files {
				write(t, h.o.Root, file, text)
			}
			if got := h.RuntimeSocket(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// The arguments of the kubelet that runs outweigh a file that was changed since, and a pod that
// plays the kubelet is not believed.
func TestRunningKubelet(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	write(t, h.o.Root, "/var/lib/kubelet/config.yaml", "containerRuntimeEndpoint: unix:///run/new.sock\n")
	tr.kubelet(50, 100, "kubelet", "kubelet", "--container-runtime-endpoint=/run/pod.sock")
	tr.nest(50)
	if got := h.RuntimeSocket(); got != "/run/new.sock" {
		t.Errorf("only a pod plays the kubelet: %s", got)
	}
	tr.kubelet(60, 500, "kubelet", "kubelet", "--container-runtime-endpoint=/run/old.sock")
	if got := h.RuntimeSocket(); got != "/run/old.sock" {
		t.Errorf("the kubelet's: %s", got)
	}
	tr.kubelet(60, 501, "kubelet", "kubelet", "--container-runtime-endpoint=/run/newest.sock")
	if got := h.RuntimeSocket(); got != "/run/newest.sock" {
		t.Errorf("another process of the same number: %s", got)
	}
}

// restart gives a process another time of its start.
func (tr *tree) restart(pid, start int) {
	tr.t.Helper()
	b, err := os.ReadFile(filepath.Join(tr.dir, strconv.Itoa(pid), "stat"))
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.file(pid, "stat", strings.Replace(string(b), " 0 77 ", " 0 "+strconv.Itoa(start)+" ", 1))
}
