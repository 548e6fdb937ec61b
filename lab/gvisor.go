package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/lab/build"
)

// RunscHandler is the name of gVisor's RuntimeClass, and of its runtime in containerd.
const RunscHandler = "runsc"

// containerdRunsc is added to containerd's configuration. gVisor's shim starts a program to tell the
// state of a task, which takes an emulated machine longer than the 2 s that containerd waits.
const containerdRunsc = `    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runsc]
      runtime_type = "io.containerd.runsc.v1"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runsc.options]
        TypeUrl = "io.containerd.runsc.v1.options"
        ConfigPath = "/etc/containerd/runsc.toml"
[timeouts]
  "io.containerd.timeout.task.state" = "30s"
`

// runscConfig: an emulated processor has no KVM, and the kubelet's cgroups are systemd's.
const runscConfig = `[runsc_config]
  platform = "systrap"
  systemd-cgroup = "true"
`

// AddGVisor gives a machine gVisor as a second container runtime and creates its RuntimeClass.
// Its pods have a network stack of their own: their device has no address that the kernel knows.
func (n *Node) AddGVisor(ctx context.Context) error {
	if !n.IsMachine() {
		return fmt.Errorf("%s: gVisor needs %w", n.Name, errNoMachine)
	}
	b, err := build.New()
	if err != nil {
		return err
	}
	dir, err := b.Path(ctx, "gvisor")
	if err != nil {
		return err
	}
	for _, program := range []string{"runsc", "containerd-shim-runsc-v1"} {
		if err := n.sendProgram(ctx, filepath.Join(dir, program), "/usr/local/bin/"+program); err != nil {
			return err
		}
	}
	for path, text := range map[string]string{
		"/etc/containerd/config.toml": n.containerdConfig() + containerdRunsc,
		"/etc/containerd/runsc.toml":  runscConfig,
	} {
		if err := n.WriteFile(path, text); err != nil {
			return err
		}
	}
	if _, err := n.Exec(ctx, "systemctl", "restart", Containerd); err != nil {
		return err
	}
	return n.lab.Apply(ctx, fmt.Sprintf("apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: %[1]s}\nhandler: %[1]s\n", RunscHandler))
}

// sendProgram puts a program of this host on a machine.
func (n *Node) sendProgram(ctx context.Context, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := n.Send(ctx, to, f); err != nil {
		return err
	}
	_, err = n.Exec(ctx, "chmod", "755", to)
	return err
}
