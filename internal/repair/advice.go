package repair

import "plumbline.dev/plumbline/internal/finding"

// advice is what a person can do about a finding that has no action; the page of its code
// (plumbline explain CODE) says more.
func advice(c finding.Code) string {
	said, ok := map[finding.Code]string{
		"PL1005": "restart the workloads that have addresses of the block; Calico removes it when it is empty",
		"PL1009": "add a pool, or repair PL1001 and PL1007 first",
		"PL2004": "see who has the two addresses (explain ip), then restart the pod",
		"PL3002": "ip link set dev DEVICE up if it is only down; else restart the pod",
		"PL3006": "restart the pod: it gets a new namespace",
		"PL4001": "mend what it waits for; never delete it by force",
		"PL4005": "look for silent mounts first (PL4004, PL4002); restart the runtime only if there are none",
		"PL4006": "read its error in the pod's events and mend that; the next try succeeds",
		"PL5001": "keep it from landing on further nodes: scale its owner to zero",
		"PL5002": "if it will free what lives, set leakGracePeriod to 0s now; then repair PL1003",
		"PL5003": "restart calico-node on the node, look again, then repair PL1003",
		"PL9001": "get the node's agent to answer",
		"PL9003": "calicoctl datastore migrate unlock, when nobody migrates",
		"PL9004": "renew or delete the entry in the file of suppressions",
		"PL9005": "finish the upgrade: all parts of Calico to one version",
	}[c]
	if !ok {
		return "see plumbline explain " + string(c)
	}
	return said
}
