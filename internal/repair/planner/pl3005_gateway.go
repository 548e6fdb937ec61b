package planner

import (
	"strconv"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planGateway sets the sysctls of the host veth by which the host answers for the pod's gateway.
func planGateway(b *builder, f *finding.Finding) *repair.Refusal {
	t, no := b.runningPodOn(f)
	if no != nil {
		return no
	}
	var off []string
	for _, key := range []string{"forwarding", "proxy_arp"} {
		if s := b.view.SysctlOf(t.pod.Node, t.outside.Name, key, false); s != nil && s.Value == "0" {
			off = append(off, key)
		}
	}
	if len(off) == 0 {
		return &repair.Refusal{Why: "the sysctls of " + t.outside.Name + " are right, and Plumbline changes neither the node's own routes nor anything inside a pod", Advice: "add a default route on the node; or restart the pod at a convenient time"}
	}
	target := b.target(f, change.Disruptive, t.proof())
	target.NoUndo = "forwarding and proxy_arp of a pod's interface are not disabled again"
	target.Touches = []string{t.name() + ": its gateway answers again"}
	for _, key := range off {
		on := model.Ref{Kind: model.KindSysctl, Name: t.pod.Node + "/" + t.outside.Name + "/" + key}
		args := map[string]string{"index": strconv.Itoa(t.outside.Index), "value": "1"}
		b.step(actOnNodes, f, "set to 1", on, &change.OnNode{Verb: "sysctl", Args: args})
	}
	return nil
}
