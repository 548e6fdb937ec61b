package planner

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
)

// A planner plans the repair of one finding. It adds exactly one target, with what must be
// verified before each write, and its steps; or it adds nothing and returns a refusal.
type planner func(b *builder, f *finding.Finding) *repair.Refusal

// planners maps the codes that Plumbline can repair to their planners. For all other codes
// advice says what the user can do.
func planners() map[finding.Code]planner {
	return map[finding.Code]planner{
		// Calico IPAM.
		finding.PL1001: planLeaked,
		finding.PL1002: planUnrecorded,
		finding.PL1003: planMisnamed,
		finding.PL1004: planMend,
		finding.PL1006: planHandle,
		finding.PL1007: planAffinity,
		finding.PL1008: planTunnel,
		finding.PL5004: planLabels,

		// Endpoints of pods, and duplicate addresses.
		finding.PL2001: planNoEndpoint,
		finding.PL2002: planNoPod,
		finding.PL2003: planOtherSandbox,
		finding.PL2010: planDuplicate,

		// Node state.
		finding.PL3001: planDevice,
		finding.PL3003: planRoute,
		finding.PL3004: planNeighbour,
		finding.PL3005: planGateway,
		finding.PL4001: planStuck,
		finding.PL4002: planUnkillable,
		finding.PL4003: planOrphan,
		finding.PL4004: planMount,
	}
}
