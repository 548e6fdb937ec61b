package lab

// Where a node's runtime has its socket and its network configurations.
const (
	LayoutKubeadm = "kubeadm"
	// LayoutK3s has both elsewhere, and in the usual directory the configuration of another program,
	// as OpenShift's nodes have podman's.
	LayoutK3s = "k3s"
)

// A layout is where a node has what distributions put elsewhere.
type layout struct{ socket, cniDir string }

var layouts = map[string]layout{
	LayoutKubeadm: {"/run/containerd/containerd.sock", "/etc/cni/net.d"},
	LayoutK3s:     {"/run/k3s/containerd/containerd.sock", "/var/lib/rancher/k3s/agent/etc/cni/net.d"},
}

// layout is that of the node. Machines are laid out as kubeadm does it.
func (n *Node) layout() layout {
	if n.IsMachine() {
		return layouts[LayoutKubeadm]
	}
	return layouts[n.lab.Layout]
}

// cniFile is the node's network configuration, as a path of the node.
func (n *Node) cniFile() string { return n.layout().cniDir + "/10-calico.conflist" }

// foreignConfig is the network configuration of another program of the node.
const foreignConfig = `{"name": "crio", "cniVersion": "0.3.1", "plugins": [{"type": "bridge", "bridge": "cni0", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.85.0.0/16"}]]}}]}
`
