package host

import (
	"regexp"
)

// Where kubelets are told which container runtime is theirs.
var kubeletConfigs = []string{"/var/lib/kubelet/config.yaml", "/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet"}

var endpointLine = regexp.MustCompile(`(?:containerRuntimeEndpoint["']?:\s*|--container-runtime-endpoint[= ])["']?(?:unix://)?(/[^\s"',}]+)`)

// RuntimeSocket gives the socket of the container runtime that the node's kubelet uses, as
// the host names it, or nothing. A node may have two runtimes, one of them empty.
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
