// Package scenarios lists the incidents that the lab can produce.
package scenarios

import (
	betweennodes "plumbline.dev/plumbline/lab/scenarios/between-nodes"
	"plumbline.dev/plumbline/lab/scenarios/cascade"
	"plumbline.dev/plumbline/lab/scenarios/churn"
	failingadd "plumbline.dev/plumbline/lab/scenarios/failing-add"
	felixfrozen "plumbline.dev/plumbline/lab/scenarios/felix-frozen"
	ipamdrift "plumbline.dev/plumbline/lab/scenarios/ipam-drift"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	leakedendpoints "plumbline.dev/plumbline/lab/scenarios/leaked-endpoints"
	legacyhandle "plumbline.dev/plumbline/lab/scenarios/legacy-handle"
	noforwarding "plumbline.dev/plumbline/lab/scenarios/no-forwarding"
	nogateway "plumbline.dev/plumbline/lab/scenarios/no-gateway"
	nopool "plumbline.dev/plumbline/lab/scenarios/no-pool"
	noservices "plumbline.dev/plumbline/lab/scenarios/no-services"
	nodeaddress "plumbline.dev/plumbline/lab/scenarios/node-address"
	retrieddel "plumbline.dev/plumbline/lab/scenarios/retried-del"
	sharedaddress "plumbline.dev/plumbline/lab/scenarios/shared-address"
	silentkubelet "plumbline.dev/plumbline/lab/scenarios/silent-kubelet"
	stalenodename "plumbline.dev/plumbline/lab/scenarios/stale-nodename"
	stuckterminating "plumbline.dev/plumbline/lab/scenarios/stuck-terminating"
	wrongmtu "plumbline.dev/plumbline/lab/scenarios/wrong-mtu"
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
	failingadd.Scenario,
	felixfrozen.Scenario,
	silentkubelet.Scenario,
	noforwarding.Scenario,
	betweennodes.Scenario,
	noservices.Scenario,
	nodeaddress.Scenario,
	wrongmtu.Scenario,
	nopool.Scenario,
}
