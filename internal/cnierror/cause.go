package cnierror

import (
	"regexp"
	"strings"
)

// A Cause is why a CNI call failed, as people can act on it.
type Cause struct {
	words *regexp.Regexp
	Says  string
	Do    string // what to look at
}

// causes are told by the plugin's own words. The first that matches counts: an error that names
// the lock names it because of a timeout, too.
var causes = []Cause{
	{regexp.MustCompile(`(?i)unauthorized|code = Unauthenticated`), "the plugin's credential is not accepted (unauthorized)", "the token in calico-kubeconfig beside the CNI configuration: calico-node renews it, so see whether calico-node runs there and writes it"},
	{regexp.MustCompile(`(?i)x509:|certificate signed by unknown`), "the plugin does not trust the API server's certificate", "the certificate authority in calico-kubeconfig beside the CNI configuration, and the node's clock"},
	{regexp.MustCompile(`(?i)is forbidden:|cannot (get|list|create|update|delete) resource`), "the plugin's account lacks a right (forbidden)", "the ClusterRole and binding of calico-cni-plugin"},
	{regexp.MustCompile(`(?i)ipam lock|acquir\w+ (the )?(host-wide )?lock`), "the plugin waits for the IPAM lock of the node", "which process holds /var/run/calico/ipam.lock on the node"},
	{regexp.MustCompile(`(?i)calico/nodename: no such file`), "/var/lib/calico/nodename is missing: calico-node is not running, or does not mount it", "calico-node on that node"},
	{regexp.MustCompile(`(?i)failed to find plugin|executable file not found`), "the plugin's program is missing", "the init container install-cni of calico-node, and /opt/cni/bin on the node"},
	{regexp.MustCompile(`(?i)no networks found in|cni plugin not initialized|no valid networks found`), "no CNI configuration is loaded", "the init container install-cni of calico-node, and the CNI directory of the node"},
	{regexp.MustCompile(`(?i)currently not ready to process requests`), "Calico's datastore is locked", "PL9003"},
	{regexp.MustCompile(`(?i)no configured calico pools|qualified ippool|does not exist, or is not enabled|not in a configured pool`), noPool, "calicoctl get ippool -o wide: disabled pools and their node selectors"},
	{regexp.MustCompile(`(?i)per host block limit`), "the node has as many blocks as it may have (maxBlocksPerHost)", "calicoctl ipam show --show-blocks, and PL1009"},
	{regexp.MustCompile(`(?i)no more free affine blocks|assigned 0 out of|no (free|available) (ip|address)|addresses? (are|is) exhausted|find or claim a block`), "no address is free", "PL1009 and PL1001"},
	{regexp.MustCompile(`(?i)resource does not exist: (\S*\()?node|nodes? "[^"]*" not found`), "Calico has no such node", "calicoctl get node, and calico-node on that node"},
	{regexp.MustCompile(`(?i)adding host side routes[^:]*(:[^:]*)*file exists|route \([^)]*\) already exists for an interface other than`), "a route to the address leads to another interface", "PL3001: an interface that no pod uses"},
	{regexp.MustCompile(`(?i)netns[^:]*: no such file|failed to open netns|unknown fs magic|network namespace[^:]*(gone|not exist|no such)`), "the pod's network namespace is gone", ""},
	{regexp.MustCompile(`(?i)/var/lib/cni/[^:]*: no such file|cached? (result|network|config)[^:]*(not found|no such|failed)`), "the runtime's record of the pod's network is lost", ""},
	{regexp.MustCompile(`(?i)dial tcp|i/o timeout|connection refused|no route to host|tls handshake timeout|client\.timeout|service unavailable|etcdserver: request timed out|unexpected eof`), "the plugin does not reach the API server or datastore", "the address in calico-kubeconfig, from the node"},
	{regexp.MustCompile(`(?i)context deadline exceeded|signal: killed|timed out`), "the call takes too long", "PL4005, and the node's load"},
}

const noPool = "no enabled pool admits the pod"

// NoPool reports whether no pool is enabled, or none selects the node.
func (c Cause) NoPool() bool { return c.Says == noPool }

// CauseOf classifies an error of a CNI call; its Says is empty if it is none that is known.
func CauseOf(message string) Cause {
	for i := range causes {
		if causes[i].words.MatchString(message) {
			return causes[i]
		}
	}
	return Cause{}
}

// What the runtimes write when an ADD fails.
var failedAdd = regexp.MustCompile(`set ?up (?:pod )?(?:\\?"[^"]*" )?network|failed to set up (?:sandbox|pod)|create (?:pod )?network|failed \(add\)|to CNI network|networks found in|cni plugin not initialized`)

// IsFailedAdd reports whether a message is about an ADD that failed. It may also say that the DEL of
// what the ADD left has failed.
func IsFailedAdd(message string) bool { return failedAdd.MatchString(message) }

var pluginType = regexp.MustCompile(`plugin type=\\?"([^"\\]*)`)

// OfCalico reports whether an error is of Calico's plugin, or says of none that it is.
func OfCalico(message string) bool {
	m := pluginType.FindStringSubmatch(message)
	return m == nil || strings.HasPrefix(m[1], "calico") || m[1] == "plumbline-cni"
}

// OwnWords strips what the runtime and the kubelet put before an error of a CNI plugin.
func OwnWords(message string) string {
	if i := strings.Index(message, "resource does not exist"); i >= 0 {
		return strings.TrimRight(message[i:], `"\ `)
	}
	for _, before := range []string{"failed (delete): ", "failed (add): "} {
		if i := strings.LastIndex(message, before); i >= 0 {
			return strings.TrimRight(message[i+len(before):], `"\ `)
		}
	}
	return message
}
