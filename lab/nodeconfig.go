package lab

import (
	"fmt"
	"strings"
)

// The configuration of a node's parts. Paths are those of a real node.

// containerdConfig takes the socket, the directory of network configurations, and whether systemd
// manages the cgroups.
const containerdConfig = `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "%s"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "/etc/containerd/certs.d"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/opt/cni/bin"
    conf_dir = "%s"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = %t
`

// containerdConfig is the configuration file of the node's container runtime.
func (n *Node) containerdConfig() string {
	return fmt.Sprintf(containerdConfig, n.layout().socket, n.layout().cniDir, n.IsMachine())
}

// kubeletConfig is the configuration file of the node's kubelet.
func (n *Node) kubeletConfig() string {
	own := fmt.Sprintf(kubeletInNamespaces, cgroupName(n.lab.Name)+"/"+n.Name, n.layout().socket)
	if n.IsMachine() {
		own = kubeletOnMachine
	}
	return fmt.Sprintf(kubeletCommon, n.Addr()) + own
}

// On a machine the kubelet is configured as kubeadm does it on Debian.
const kubeletOnMachine = `cgroupDriver: systemd
containerRuntimeEndpoint: unix:///var/run/containerd/containerd.sock
nodeStatusUpdateFrequency: 10s
`

// kubeletInNamespaces takes the node's cgroup and the runtime's socket.
const kubeletInNamespaces = `cgroupRoot: /%s
cgroupDriver: cgroupfs
cgroupsPerQOS: true
enforceNodeAllocatable: []
failCgroupV1: false
containerRuntimeEndpoint: unix://%s
healthzPort: 0
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
`

// kubeletCommon takes the node's address.
const kubeletCommon = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %s
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: /etc/kubernetes/pki/kubelet.crt
tlsPrivateKeyFile: /etc/kubernetes/pki/kubelet.key
failSwapOn: false
resolvConf: ""
volumePluginDir: /var/lib/kubelet/volume-plugins
maxPods: 300
serializeImagePulls: false
evictionHard: {memory.available: 50Mi, nodefs.available: 1%%, imagefs.available: 1%%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
`

// kubeProxyConfig is the configuration file of the node's kube-proxy. The nft of Debian 11 is too old for its nftables mode, in which
// it would end again and again.
func (n *Node) kubeProxyConfig() string {
	if n.IsMachine() && n.lab.Machine == "debian11" {
		return strings.Replace(kubeProxyConfig, "mode: nftables", "mode: iptables", 1)
	}
	if n.lab.Has(ProxyNFTables) {
		return kubeProxyConfig
	}
	return kubeProxyConfig + "featureGates: {NFTablesProxyMode: true}\n"
}

// kubeProxyConfig does not set conntrack's sysctls: they belong to the machine.
const kubeProxyConfig = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clientConnection: {kubeconfig: /var/lib/kube-proxy/kubeconfig.conf}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
`
