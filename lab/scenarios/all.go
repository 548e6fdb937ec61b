// Package scenarios lists the incidents that the lab can produce.
package scenarios

import (
	"plumbline.dev/plumbline/lab/scenarios/cascade"
	"plumbline.dev/plumbline/lab/scenarios/churn"
	ipamdrift "plumbline.dev/plumbline/lab/scenarios/ipam-drift"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	leakedendpoints "plumbline.dev/plumbline/lab/scenarios/leaked-endpoints"
	legacyhandle "plumbline.dev/plumbline/lab/scenarios/legacy-handle"
	nogateway "plumbline.dev/plumbline/lab/scenarios/no-gateway"
	retrieddel "plumbline.dev/plumbline/lab/scenarios/retried-del"
	sharedaddress "plumbline.dev/plumbline/lab/scenarios/shared-address"
	stalenodename "plumbline.dev/plumbline/lab/scenarios/stale-nodename"
	stuckterminating "plumbline.dev/plumbline/lab/scenarios/stuck-terminating"
	"plumbline.dev/plumbline/lab/stage"
)

// All lists every incident.
var All = []stage.Scenario{
	latedel.Scenario,
	leakedendpoints.Scenario,
	ipamdrift.Scenario,
	sharedaddress.Scenario,
	nogateway.Scenario,
	stuckterminating.Scenario,
	cascade.Scenario,
	churn.Scenario,
	stalenodename.Scenario,
	legacyhandle.Scenario,
	retrieddel.Scenario,
}
