package timeline

import (
	"regexp"
	"strings"
)

// reasons classify why a CNI call failed, by the plugin's own words, as users can act on them. The
// first that matches counts: an error that names the lock names it because of a timeout, too.
var reasons = []struct {
	words *regexp.Regexp
	says  string
}{
	{regexp.MustCompile(`(?i)unauthorized|code = Unauthenticated`), "the plugin's credential is not accepted (unauthorized)"},
	{regexp.MustCompile(`(?i)x509:|certificate signed by unknown`), "the plugin does not trust the API server's certificate"},
	{regexp.MustCompile(`(?i)is forbidden:|cannot (get|list|create|update|delete) resource`), "the plugin's account lacks a right (forbidden)"},
	{regexp.MustCompile(`(?i)ipam lock|acquir\w+ (the )?(host-wide )?lock`), "the plugin waits for the IPAM lock of the node"},
	{regexp.MustCompile(`(?i)calico/nodename: no such file`), "/var/lib/calico/nodename is missing: calico-node is not running, or does not mount it"},
	{regexp.MustCompile(`(?i)failed to find plugin|executable file not found`), "the plugin's program is missing"},
	{regexp.MustCompile(`(?i)no more free affine blocks|assigned 0 out of|no (free|available) (ip|address)|addresses? (are|is) exhausted`), "no address is free"},
	{regexp.MustCompile(`(?i)netns[^:]*: no such file|failed to open netns|unknown fs magic|network namespace[^:]*(gone|not exist|no such)`), "the pod's network namespace is gone"},
	{regexp.MustCompile(`(?i)/var/lib/cni/[^:]*: no such file|cached? (result|network|config)[^:]*(not found|no such|failed)`), "the runtime's record of the pod's network is lost"},
	{regexp.MustCompile(`(?i)dial tcp|i/o timeout|connection refused|no route to host|tls handshake timeout|client\.timeout|service unavailable|etcdserver: request timed out|unexpected eof`), "the plugin does not reach the API server or datastore"},
}

// reason classifies an error of a CNI call; empty if it is none that is known.
func reason(note string) string {
	for i := range reasons {
		if reasons[i].words.MatchString(note) {
			return reasons[i].says
		}
	}
	return ""
}

// ofPlugin reports whether an error is of a CNI call, whatever the runtime and the kubelet put
// before it: the runtime itself did answer.
func ofPlugin(note string) bool {
	for _, words := range []string{"network for sandbox", "network for pod sandbox", "NetworkPlugin cni failed", "CNI network", "plugin type=", "pod network sandbox"} {
		if strings.Contains(note, words) {
			return true
		}
	}
	return false
}

// because gives ": REASON" for an error that is known, else nothing.
func because(note string) string {
	if r := reason(note); r != "" {
		return ": " + r
	}
	return ""
}

// OwnWords strips what the runtime and the kubelet put before an error of a CNI plugin.
func OwnWords(note string) string {
	if i := strings.Index(note, "resource does not exist"); i >= 0 {
		return strings.TrimRight(note[i:], `"\ `)
	}
	for _, before := range []string{"failed (delete): ", "failed (add): "} {
		if i := strings.LastIndex(note, before); i >= 0 {
			return strings.TrimRight(note[i+len(before):], `"\ `)
		}
	}
	return note
}
