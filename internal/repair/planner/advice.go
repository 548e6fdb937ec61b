package planner

import "plumbline.dev/plumbline/internal/finding"

// Repairs returns whether there is a repair for findings of a code, and if there is none, what the user can do.
func Repairs(c finding.Code) (is bool, advise string) {
	if planners()[c] != nil {
		return true, ""
	}
	return false, advice(c)
}

// advice gives what the user can do about a finding that has no action. The page of the
// code (plumbline explain CODE) gives details.
func advice(c finding.Code) string {
	text, ok := map[finding.Code]string{
		finding.PL1005: "restart the workloads that have addresses of the block; Calico removes it when it is empty",
		finding.PL1009: "add a pool, or repair PL1001 and PL1007 first",
		finding.PL1010: "enable the pool (calicoctl patch ippool), or create another one",
		finding.PL1011: "name the address to keep in the annotation projectcalico.org/loadBalancerIPs, and update Calico",
		finding.PL1012: "leaked files: clean up the whole sandbox, its interface before its file: explain PL1012 has the order; a pod without a file: restart it",
		finding.PL2004: "find the owners of both addresses (plumbline explain ip ADDRESS), then restart the pod",
		finding.PL3002: "if the interface is only down, run ip link set dev DEVICE up; else restart the pod",
		finding.PL3006: "restart the pod: it gets a new network namespace",
		finding.PL3007: "restart calico-node on the node: Felix makes routes, neighbours and forwarding database anew; a route or rule of somebody else must be removed by hand",
		finding.PL3009: "set the MTU in Calico's configuration (veth_mtu or the operator's mtu, vxlanMTU of FelixConfiguration); pods take it up when they start anew",
		finding.PL3008: "a sysctl: run sysctl -w net.ipv4.ip_forward=1 on the node, and find what switched it off; a firewall rule: find who adds it, and remove it there",
		finding.PL4001: "fix what the pod waits for; do not force-delete the pod",
		finding.PL4005: "check for hung mounts first (PL4004, PL4002); restart the runtime only if there are none",
		finding.PL4006: "read the error in the pod's events and fix its cause; the next retry then succeeds",
		finding.PL4007: "fix what the plugin's error names; the kubelet's next attempt then succeeds",
		finding.PL4008: "read the log of calico-node on the node; restart its pod if it hangs",
		finding.PL4009: "see kubectl describe node NODE, and the kubelet's log there",
		finding.PL4010: "set mountPropagation: HostToContainer on the workload's volume mount",
		finding.PL5001: "keep the pod off further nodes: scale its owner to zero",
		finding.PL5002: "if it would release addresses in use, set leakGracePeriod to 0s now, then repair PL1003; if it is not ready, see its pods; if it is behind, restart it only after check --code PL1003,PL5003,PL9006 finds nothing",
		finding.PL5003: "restart calico-node on the node, run plumbline check again, then repair PL1003",
		finding.PL5005: "restart calico-node on the node: it detects the address when it starts",
		finding.PL5006: "delete kube-proxy's pod on the node: when it starts it writes its rules; and find what removed them",
		finding.PL5007: "see plumbline guard status; until it protects, do not reuse pod names on the node",
		finding.PL9001: "make the agent on the node answer",
		finding.PL9003: "if no migration is running, run calicoctl datastore migrate unlock",
		finding.PL9004: "renew or delete the entry in the suppressions file",
		finding.PL9005: "finish the upgrade: bring all Calico components to one version",
		finding.PL9006: "follow docs/repair.md, After a datastore was restored from a backup: stop the IPAM garbage collector first",
	}[c]
	if !ok {
		return "see plumbline explain " + string(c)
	}
	return text
}
