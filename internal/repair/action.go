package repair

import (
	"plumbline.dev/plumbline/internal/finding"
)

// An action plans the repair of one finding. It adds exactly one target, with what must be
// verified before each write, and its steps; or it adds a refusal with a reason and advice.
type action func(b *builder, f *finding.Finding)

// actions maps the codes that Plumbline can repair to their actions. For all other codes
// advice says what the user can do.
func actions() map[finding.Code]action {
	return map[finding.Code]action{
		// Calico IPAM.
		"PL1001": planLeaked,
		"PL1002": planUnrecorded,
		"PL1003": planMisnamed,
		"PL1004": planMend,
		"PL1006": planHandle,
		"PL1007": planAffinity,
		"PL1008": planTunnel,
		"PL5004": planLabels,

		// Endpoints of pods, and duplicate addresses.
		"PL2001": planNoEndpoint,
		"PL2002": planNoPod,
		"PL2003": planOtherSandbox,
		"PL2010": planDuplicate,

		// Node state.
		"PL3001": planDevice,
		"PL3003": planRoute,
		"PL3004": planNeighbour,
		"PL3005": planGateway,
		"PL4001": planStuck,
		"PL4002": planUnkillable,
		"PL4003": planOrphan,
		"PL4004": planMount,
	}
}
