package detect

import "plumbline.dev/plumbline/internal/finding"

// All is every detector, in the order of their codes.
//
// The invariants I1 to I46 of Calico's data model and who watches them:
//
//	I1–I7    PL1004   (I5: only a number above the block's own; residue of DELs is normal)
//	I8–I10   PL1005
//	I12–I14  PL1007
//	I17      PL5004
//	I18–I22  PL1006
//	I24      PL1002 for pods, PL1008 for tunnels
//	I25, I30 PL1001
//	I26      PL1003
//	I27      PL2003, as far as annotation, endpoint and handle tell; the sandbox needs the node
//	I28      PL2010, PL1008
//	I29      PL2004; eth0 where the node is seen
//	I31      PL1001: what a pod does not use of its own is held for an older sandbox
//	I32      PL2001, PL2002
//	I33      PL2003
//	I35      PL2010 (addresses); device names: see below
//	I36, I37 PL3001, PL3002
//	I38      PL3003
//	I40      PL3004
//	I41, I42 PL3005, PL3006 (I41: rp_filter is what its owner wants)
//	I43      PL4003
//	I44      PL4001, PL4002, PL4004
//	I45      PL5003; PL1003 and PL5002 see its consequence
//	I46      PL9003
//
// Not included:
//
//	I11  an allocation inside a reservation: legal, reservations only stop new ones
//	I15  more blocks than maxBlocksPerHost: legal when the limit was lowered later
//	I16  borrowed under strict affinity: legal when it pre-dates the setting
//	I23  two addresses of one family for a machine: IPAM's write path refuses it
//	I24  for LoadBalancer services: which controller gave an address is not recorded where
//	     another than Calico's did it, and a false alarm there would be the rule
//	I34  endpoint's device name: follows from FELIX_INTERFACEPREFIX of the node that wrote it
//	I35  for device names: follows from I34
//	I39  a route by a pod's device to an address that no pod has: Felix removes it within 90 s,
//	     and it harms nobody until a pod has the address, which is PL3003
//
// PL9004 (suppression expired) is no detector: it is about the user's own file.
var All = []*Detector{
	PL1001, PL1002, PL1003, PL1004, PL1005, PL1006, PL1007, PL1008, PL1009,
	PL2001, PL2002, PL2003, PL2004, PL2010,
	PL3001, PL3002, PL3003, PL3004, PL3005, PL3006,
	PL4001, PL4002, PL4003, PL4004, PL4005, PL4006,
	PL5001, PL5002, PL5003, PL5004,
	PL9001, PL9003, PL9005,
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
