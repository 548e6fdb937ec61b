package detect

import "plumbline.dev/plumbline/internal/finding"

// All is every detector, in the order of their codes.
//
// The invariants of Calico's data model and the detectors that check them:
//
//	PL1004          the lists of a block agree (ordinals, attributes, free list, sequence
//	                numbers; a sequence number without an allocation is a normal leftover of a DEL)
//	PL1005          blocks are inside a pool, have its block size and do not overlap
//	PL1007          affinity, block and node reference each other
//	PL5004          affinities have the labels by which IPAM finds them (since Calico 3.31)
//	PL1006          handles and blocks count the same addresses
//	PL1002, PL1008  every address in use is allocated: pods, tunnels
//	PL1001          every allocation is in use, also by the owner's current sandbox
//	PL1003          an allocation names the pod and node that use the address
//	PL2003          annotation, endpoint and handle name the running sandbox
//	PL2010, PL1008  one address has one owner
//	PL2004          status, annotation or endpoint, and interface have the same addresses
//	PL2001, PL2002  every running pod has an endpoint, every endpoint a pod
//	PL3001, PL3002  every cali* interface has a pod, every pod its interface
//	PL3003          the host route of an address points to its pod
//	PL3004          neighbour entries of an address have its pod's MAC
//	PL3005, PL3006  the pod reaches its gateway (rp_filter is the owner's choice, not checked)
//	PL3007          a node sends packets for pods of other nodes to those nodes
//	PL3008          a node forwards what its pods send and get
//	PL3009          what pods send is not too large for their way
//	PL4003          sandbox, container and pod exist together
//	PL4001, PL4002, PL4004  a deleted pod terminates
//	PL4007          a pod that is to start gets a network
//	PL4008, PL4009  Felix and the kubelet of a node work
//	PL4010          a pod does not keep the mounts of others
//	PL5003          a node uses its own name (PL1003 and PL5002 report the consequences)
//	PL5005          a node has the address that Calico's other nodes send its packets to
//	PL5006          a node follows the Services
//	PL5007          a guard that is to enforce does
//	PL1010          running pods have a pool, and a pool assigns addresses to new ones
//	PL1011          a LoadBalancer Service has one address of each family
//	PL1012          files of host-local and sandboxes exist together
//	PL9003, PL9006  the datastore is not locked, and was not set back
//
// Not checked:
//
//   - an allocation inside a reservation: legal, reservations only prevent new ones
//   - more blocks than maxBlocksPerHost: legal if the limit was lowered later
//   - a borrowed address under strict affinity: legal if it is older than the setting
//   - two addresses of one family for a KubeVirt VM: IPAM refuses to write it
//   - LoadBalancer addresses that are not allocated: if another controller than Calico's
//     assigned them, that is not recorded, and most reports would be false
//   - the interface name in an endpoint, and duplicate names: they follow from
//     FELIX_INTERFACEPREFIX of the node that wrote the endpoint
//   - a route via a pod's interface to an address that no pod has: Felix removes it within
//     90 s, and it does no harm until a pod has the address, which is PL3003
//
// PL9004 (suppression expired) has no detector: it is about the user's own file.
var All = []*Detector{
	PL1001, PL1002, PL1003, PL1004, PL1005, PL1006, PL1007, PL1008, PL1009, PL1010, PL1011, PL1012,
	PL2001, PL2002, PL2003, PL2004, PL2010,
	PL3001, PL3002, PL3003, PL3004, PL3005, PL3006, PL3007, PL3008, PL3009,
	PL4001, PL4002, PL4003, PL4004, PL4005, PL4006, PL4007, PL4008, PL4009, PL4010,
	PL5001, PL5002, PL5003, PL5004, PL5005, PL5006, PL5007,
	PL9001, PL9003, PL9005, PL9006,
}

// ByCode finds a detector.
func ByCode(c finding.Code) *Detector {
	for _, d := range All {
		if d.Code == c {
			return d
		}
	}
	return nil
}

// Listed returns every code with its title, as shells complete them.
func Listed() []string {
	var out []string
	for _, d := range All {
		out = append(out, string(d.Code)+"\t"+d.Title)
	}
	return out
}
