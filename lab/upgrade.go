package lab

import (
	"context"
	"fmt"
	"path/filepath"
)

// ownContainerd makes a machine's unit run the lab's containerd, which is newer than any
// distribution's.
func (n *Node) ownContainerd() error {
	bin := n.Bin(Containerd, "containerd")
	drop := fmt.Sprintf("[Service]\nExecStart=\nExecStart=%s\nEnvironment=PATH=%s:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n", bin, filepath.Dir(bin))
	return n.WriteFile("/etc/systemd/system/containerd.service.d/lab.conf", drop)
}

// UpgradeContainerd replaces a machine's container runtime under its running pods by the lab's,
// which is newer, as a package manager does: only the daemon is restarted.
func (n *Node) UpgradeContainerd(ctx context.Context) error {
	if !n.IsMachine() {
		return fmt.Errorf("%s: that needs %w", n.Name, errNoMachine)
	}
	if err := n.ownContainerd(); err != nil {
		return err
	}
	_, err := n.Exec(ctx, "sh", "-c", "systemctl daemon-reload && systemctl restart containerd")
	return err
}

// ReplaceKubelet puts another copy of the kubelet's program in the place of the old one under
// running pods, and restarts it.
func (n *Node) ReplaceKubelet(ctx context.Context) error {
	if !n.IsMachine() {
		return fmt.Errorf("%s: that needs %w", n.Name, errNoMachine)
	}
	const unit = "/etc/systemd/system/" + Kubelet + ".service"
	_, err := n.Exec(ctx, "sh", "-c", `install -D "$0" /usr/local/bin/kubelet && sed -i "s|\"$0\"|\"/usr/local/bin/kubelet\"|" "$1" && grep -q /usr/local/bin/kubelet "$1" && systemctl daemon-reload && systemctl restart kubelet`, n.Bin("kubernetes", "kubelet"), unit)
	return err
}
