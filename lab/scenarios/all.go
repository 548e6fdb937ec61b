// Package scenarios lists the incidents that the lab can produce.
package scenarios

import (
	"plumbline.dev/plumbline/lab/scenarios/churn"
	ipamdrift "plumbline.dev/plumbline/lab/scenarios/ipam-drift"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	leakedendpoints "plumbline.dev/plumbline/lab/scenarios/leaked-endpoints"
	legacyhandle "plumbline.dev/plumbline/lab/scenarios/legacy-handle"
	stalenodename "plumbline.dev/plumbline/lab/scenarios/stale-nodename"
	"plumbline.dev/plumbline/lab/stage"
)

// All is every incident, in the order of the issue that asked for them.
var All = []stage.Scenario{
	latedel.Scenario,
	leakedendpoints.Scenario,
	ipamdrift.Scenario,
	churn.Scenario,
	stalenodename.Scenario,
	legacyhandle.Scenario,
}
