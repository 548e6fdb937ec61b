package planner

import (
	"net/netip"
	"strconv"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// planRoute deletes a host route that leads to another interface, and waits for Felix. Felix
// adds missing routes, and does not touch routes that it did not write.
func planRoute(b *builder, f *finding.Finding) *repair.Refusal {
	t, no := b.runningPodOn(f)
	if no != nil {
		return no
	}
	m := b.view.MachineOf(t.pod.Node)
	if m == nil || m.Felix != "ready" {
		return &repair.Refusal{Why: "Felix on " + t.pod.Node + " is not ready and would not add the right route", Advice: "make calico-node on " + t.pod.Node + " ready"}
	}
	var wrong []*model.Route
	for _, ip := range t.ips {
		for r := range b.view.RoutesTo(t.pod.Node, ip) {
			if r.Dst == netip.PrefixFrom(ip, ip.BitLen()) && r.Type == "" && r.Link != t.outside.Index && r.Link != 0 {
				wrong = append(wrong, r)
			}
		}
	}
	if len(wrong) == 0 {
		return &repair.Refusal{Why: "no route leads to another interface; a route is missing, and Felix adds it within 90 s if its endpoint is right", Advice: "if it does not, restart calico-node on " + t.pod.Node}
	}
	target := b.target(f, change.Disruptive, t.proof())
	target.NoUndo = "a route to the wrong interface is not restored"
	target.Touches = []string{t.name() + ": packets reach the pod again"}
	for _, r := range wrong {
		target.Warnings = append(target.Warnings, b.leads(t.pod.Node, r))
		on := model.Ref{Kind: model.KindPath, Name: t.pod.Node + "/" + r.Dst.Addr().String()}
		args := map[string]string{"link": strconv.Itoa(r.Link), "protocol": strconv.Itoa(r.Protocol), "table": strconv.Itoa(r.Table), "metric": strconv.Itoa(r.Metric)}
		b.step(actOnNodes, f, "delete route", on, &change.OnNode{Verb: "unroute", Args: args})
	}
	b.await(f, t)
	return nil
}

// leads says where a route leads: an index is nothing to compare.
func (b *builder) leads(node string, r *model.Route) string {
	where := "interface " + strconv.Itoa(r.Link) + ", which is gone"
	if l := b.view.LinkAt(node, r.Link); l != nil {
		where = l.Name + " (interface " + strconv.Itoa(r.Link) + ")"
	}
	return "the route to " + r.Dst.Addr().String() + " leads to " + where
}
