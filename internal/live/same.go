package live

import (
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// samePod tells that nothing is another but when it was written: kubelets write pods again
// and again.
func samePod(a, b *model.Pod) bool {
	return a.UID == b.UID && a.Node == b.Node && a.Phase == b.Phase && a.HostNetwork == b.HostNetwork && a.Ready == b.Ready && a.NoIPAM == b.NoIPAM &&
		a.Created == b.Created && a.Deleted == b.Deleted && a.Annotation == b.Annotation && a.ContainerID == b.ContainerID &&
		a.Owner == b.Owner && a.VM == b.VM && a.Static == b.Static && a.Started == b.Started &&
		slices.Equal(a.IPs, b.IPs) && slices.Equal(a.Annotated, b.Annotated) && slices.Equal(a.Finalizers, b.Finalizers) &&
		slices.Equal(a.Volumes, b.Volumes) && slices.Equal(a.Images, b.Images)
}

// sameNode tells the same of a node.
func sameNode(a, b *model.Node) bool {
	return a.OS == b.OS && a.Ready == b.Ready && a.Changed == b.Changed && a.Calico == b.Calico && a.UID == b.UID && a.Created == b.Created &&
		slices.Equal(a.Tunnels, b.Tunnels) && slices.Equal(a.Addresses, b.Addresses) && slices.Equal(a.Taints, b.Taints)
}
