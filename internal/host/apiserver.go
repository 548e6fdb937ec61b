package host

import (
	"net/url"
	"regexp"
)

// kubeconfigs are the usual kubeconfig files of kubelets.
var kubeconfigs = []string{
	"/etc/kubernetes/kubelet.conf", "/var/lib/kubelet/kubeconfig", "/etc/kubernetes/kubelet/kubeconfig",
	"/var/lib/rancher/k3s/agent/kubelet.kubeconfig", "/var/lib/rancher/rke2/agent/kubelet.kubeconfig",
	"/var/snap/microk8s/current/credentials/kubelet.config",
}

var serverLine = regexp.MustCompile(`(?m)(?:^|[\s{,])(?:"server"|server):\s*["']?(https://[^\s"',}]+)`)

// APIServer returns the address at which the node's kubelet reaches the API server, or
// nothing. A node with broken services or without a default route reaches it only there.
// Nothing else is read from that file, which holds secrets.
func (h *Host) APIServer() string {
	for _, path := range kubeconfigs {
		text, err := h.content(path, maxJSON)
		if err != nil {
			continue
		}
		if server := apiServer(text); server != "" {
			return server
		}
	}
	return ""
}

func apiServer(kubeconfig []byte) string {
	m := serverLine.FindSubmatch(kubeconfig)
	if m == nil {
		return ""
	}
	u, err := url.Parse(string(m[1]))
	if err != nil || u.Host == "" || u.User != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.Path
}
