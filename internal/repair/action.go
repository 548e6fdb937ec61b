package repair

import (
	"plumbline.dev/plumbline/internal/finding"
)

// An action plans the repair of one finding: it names its target, what must be proven,
// and the steps; or it refuses, and says what a person can do.
type action func(b *builder, f *finding.Finding)

// actions are what can be repaired, by code. A code that is not here is a person's, and
// advice says what that one can do.
func actions() map[finding.Code]action {
	return map[finding.Code]action{
		// The ledger.
		"PL1001": planLeaked,
		"PL1002": planUnrecorded,
		"PL1003": planMisnamed,
		"PL1004": planMend,
		"PL1006": planHandle,
		"PL1007": planAffinity,
		"PL1008": planTunnel,
		"PL5004": planLabels,

		// What pods show, and what they share.
		"PL2001": planNoEndpoint,
		"PL2002": planNoPod,
		"PL2003": planOtherSandbox,
		"PL2010": planDuplicate,

		// The nodes.
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
