package host

import (
	"regexp"
)

// Files in which kubelets are told their container runtime.
var kubeletConfigs = []string{"/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet"}

var endpointLine = regexp.MustCompile(`(?:containerRuntimeEndpoint["']?:\s*|--container-runtime-endpoint[= ])["']?(?:unix://)?(/[^\s"',}]+)`)

// RuntimeSocket returns the socket of the container runtime that the node's kubelet uses,
// as a path of the host, or nothing. A node may have two runtimes, one of them without
// pods.
func (h *Host) RuntimeSocket() string {
	for _, path := range kubeletConfigs {
		text, err := h.content(path, maxJSON)
		if err != nil {
			continue
		}
		if m := endpointLine.FindSubmatch(text); m != nil {
			return string(m[1])
		}
	}
	return ""
}
