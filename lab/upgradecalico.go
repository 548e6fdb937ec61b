package lab

import (
	"context"
	"errors"
	"os"
	"time"

	"plumbline.dev/plumbline/lab/build"
)

// UpgradeCalico replaces Calico's accounts, roles and CRDs and its kube-controllers by those of
// another version, as a new manifest does. Nodes keep their version until each is upgraded.
func (l *Lab) UpgradeCalico(ctx context.Context, version string) error {
	c := l.Config
	c.Calico = version
	c, err := c.WithDefaults()
	if err != nil {
		return err
	}
	b, err := build.New()
	if err != nil {
		return err
	}
	paths, err := b.PathsOf(ctx, c.Calico, c.Kubernetes)
	if err != nil {
		return err
	}
	l.Config, l.Parts = c, paths
	if err := errors.Join(l.save(), l.installCalico(ctx)); err != nil {
		return err
	}
	if err := l.sup.Stop(ctx, KubeControllers, 15*time.Second); err != nil {
		return err
	}
	return l.startKubeControllers(ctx)
}

// UpgradeCalico replaces Calico on the node by the lab's present version: the plugins first, as
// the init container install-cni does, then calico-node.
func (n *Node) UpgradeCalico(ctx context.Context) error {
	for _, plugin := range []string{"calico", "calico-ipam"} {
		if err := os.Remove(n.Path("/opt/cni/bin/" + plugin)); err != nil {
			return err
		}
	}
	if err := n.installCNI(ctx); err != nil {
		return err
	}
	for _, part := range []string{Felix, tunnels} {
		if err := n.Stop(ctx, part); err != nil {
			return err
		}
	}
	if err := n.startCalico(ctx); err != nil {
		return err
	}
	return n.felixReady(ctx)
}
