package planner

import (
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planNeighbour deletes static neighbour entries with a wrong interface or MAC. Nothing else
// removes them. The kernel then learns the right entry.
func planNeighbour(b *builder, f *finding.Finding) *repair.Refusal {
	t, no := b.runningPodOn(f)
	if no != nil {
		return no
	}
	var wrong []*model.Neighbour
	for _, ip := range t.ips {
		for n := range b.view.NeighboursOf(t.pod.Node, ip) {
			static := n.State == "PERMANENT"
			elsewhere := n.Link != t.outside.Index
			if static && !n.Proxy && (elsewhere || n.MAC != "" && !strings.EqualFold(n.MAC, t.inside.MAC)) && b.view.LinkAt(t.pod.Node, n.Link) != nil {
				wrong = append(wrong, n)
			}
		}
	}
	if len(wrong) == 0 {
		return &repair.Refusal{Why: "no static neighbour entry is wrong: the pod does not answer, or another host answers for it", Advice: "check the processes in the pod"}
	}
	target := b.target(f, change.Disruptive, t.proof())
	target.NoUndo = "a wrong neighbour entry is not restored"
	target.Touches = []string{t.name() + ": its node resolves its MAC address again"}
	for _, n := range wrong {
		l := b.view.LinkAt(t.pod.Node, n.Link)
		on := model.Ref{Kind: model.KindNeighbour, Name: t.pod.Node + "/" + n.IP.String() + "/" + l.Name}
		args := map[string]string{"link": strconv.Itoa(n.Link), "mac": n.MAC}
		b.step(actOnNodes, f, "delete entry", on, &change.OnNode{Verb: "unneighbour", Args: args})
	}
	return nil
}
