package repair

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// The agent verifies and changes a node object atomically. The arguments of a step identify
// the object by numbers (index, inode), never by name alone: a name can be reused.

// minSeen is for how many seconds the agent must have seen an interface unchanged before it
// deletes it. The kernel does not report when an interface was created.
const minSeen = 600

// planDevice deletes a host veth that no pod uses. The step identifies it by index: the next
// pod of the same name gets an interface of the same name.
func planDevice(b *builder, f *finding.Finding) *Refusal {
	node := f.Subject.OnNode()
	_, name, _ := strings.Cut(f.Subject.Name, "/")
	l := b.view.LinkNamed(node, name)
	switch {
	case l == nil:
		return &Refusal{Why: "the interface is gone", Advice: "run plumbline check again"}
	case b.view.CNISetupOn(node).Calicos == nil:
		return &Refusal{Why: "the network of " + node + " is not known to be managed by Calico"}
	case l.PeerNS == 0:
		return &Refusal{Why: "its peer interface was not found: it may be in a network namespace that the agent cannot read", Advice: "restart the node at a convenient time"}
	}
	args := map[string]string{"index": strconv.Itoa(l.Index), "seen": strconv.Itoa(minSeen)}
	if s := int(b.o.Settle.Seconds()); s > 0 {
		args["seen"] = strconv.Itoa(s) // the user passed --settle
	}
	for a := range b.view.AttachmentsIn(node, l.PeerNS) {
		if a.Pinned && a.PIDs == 0 {
			args["peerNS"] = strconv.FormatUint(l.PeerNS, 10)
		}
	}
	t := b.target(f, change.Safe, change.Proof{NotInUse: &change.NotInUse{Nodes: []string{node}}})
	t.NoUndo = "a deleted interface cannot be restored"
	b.step(actOnNodes, f, "delete device", f.Subject, &change.OnNode{Verb: "unlink", Args: args})
	return nil
}

// planRoute deletes a host route that leads to another interface, and waits for Felix. Felix
// adds missing routes, and does not touch routes that it did not write.
func planRoute(b *builder, f *finding.Finding) *Refusal {
	t, no := b.runningPodOn(f)
	if no != nil {
		return no
	}
	m := b.view.MachineOf(t.pod.Node)
	if m == nil || m.Felix != "ready" {
		return &Refusal{Why: "Felix on " + t.pod.Node + " is not ready and would not add the right route", Advice: "make calico-node on " + t.pod.Node + " ready"}
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
		return &Refusal{Why: "no route leads to another interface; a route is missing, and Felix adds it within 90 s if its endpoint is right", Advice: "if it does not, restart calico-node on " + t.pod.Node}
	}
	target := b.target(f, change.Disruptive, t.proof())
	target.NoUndo = "a route to the wrong interface is not restored"
	target.Touches = []string{t.name() + ": packets reach the pod again"}
	for _, r := range wrong {
		on := model.Ref{Kind: model.KindPath, Name: t.pod.Node + "/" + r.Dst.Addr().String()}
		args := map[string]string{"link": strconv.Itoa(r.Link), "protocol": strconv.Itoa(r.Protocol), "table": strconv.Itoa(r.Table), "metric": strconv.Itoa(r.Metric)}
		b.step(actOnNodes, f, "delete route", on, &change.OnNode{Verb: "unroute", Args: args})
	}
	b.await(f, t)
	return nil
}

// await adds the steps that wait until Felix has set the routes of a running pod.
func (b *builder) await(f *finding.Finding, t *runningPod) {
	for _, ip := range t.ips {
		on := model.Ref{Kind: model.KindPath, Name: t.pod.Node + "/" + ip.String()}
		b.step(actOnNodes, f, "wait", on, &change.Await{Node: t.pod.Node, IP: ip, Device: t.outside.Name, Seconds: felixTime})
	}
}

// planNeighbour deletes static neighbour entries with a wrong interface or MAC. Nothing else
// removes them. The kernel then learns the right entry.
func planNeighbour(b *builder, f *finding.Finding) *Refusal {
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
		return &Refusal{Why: "no static neighbour entry is wrong: the pod does not answer, or another host answers for it", Advice: "check the processes in the pod"}
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

// planGateway sets the sysctls of the host veth by which the host answers for the pod's gateway.
func planGateway(b *builder, f *finding.Finding) *Refusal {
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
		return &Refusal{Why: "the sysctls of " + t.outside.Name + " are right, and Plumbline changes neither the node's own routes nor anything inside a pod", Advice: "add a default route on the node; or restart the pod at a convenient time"}
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

// runningPodOn finds the running pod of a finding. It refuses also if another user has one of its addresses.
func (b *builder) runningPodOn(f *finding.Finding) (*runningPod, *Refusal) {
	ns, name, _ := strings.Cut(f.Subject.Name, "/")
	pod := b.view.PodByName(ns, name)
	if pod == nil {
		return nil, &Refusal{Why: "the pod is gone", Advice: "run plumbline check again"}
	}
	t, no := b.runningPodOf(pod)
	if no != nil {
		return nil, no
	}
	for _, ip := range t.ips {
		if no := b.otherUser(t, ip); no != nil {
			return nil, no
		}
	}
	slices.SortFunc(t.ips, netip.Addr.Compare)
	return t, nil
}
