package host

import (
	"regexp"
	"strings"
)

var endpointLine = regexp.MustCompile(`(?:containerRuntimeEndpoint["']?:\s*|--container-runtime-endpoint[= ])["']?(?:unix://)?(/[^\s"',}]+)`)

// RuntimeSocket returns the socket of the container runtime that the node's kubelet uses,
// as a path of the host, or nothing. A node may have two runtimes, one of them without
// pods.
func (h *Host) RuntimeSocket() string {
	if s := h.kubeletSays(endpointLine); s != "" {
		return s
	}
	// K3s has a runtime of its own, unless it was given another.
	if k := h.runningKubelet(); strings.HasPrefix(k.name, "k3s-") && k.args != "" && !strings.Contains(k.args, "--docker") {
		return "/run/k3s/containerd/containerd.sock"
	}
	return ""
}
