// Package scenarios lists the incidents that the lab can produce.
package scenarios

import (
	ipamdrift "plumbline.dev/plumbline/lab/scenarios/ipam-drift"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	leakedendpoints "plumbline.dev/plumbline/lab/scenarios/leaked-endpoints"
	"plumbline.dev/plumbline/lab/stage"
)

// All is every incident, in the order of the issue that asked for them.
var All = []stage.Scenario{
	latedel.Scenario,
	leakedendpoints.Scenario,
	ipamdrift.Scenario,
}
