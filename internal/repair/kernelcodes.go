package repair

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// On a node the agent compares again in the same breath as it acts: what a plan says about
// it are the numbers by which it knows the thing again, never its name alone.

// minSeen is for how long an agent must have seen a device as it is, in seconds: links
// carry no date.
const minSeen = 600

// planDevice deletes a device that no pod uses, by its index: its name is the next pod's of
// that name too.
func planDevice(b *builder, f *finding.Finding) {
	node := f.Subject.OnNode()
	_, name, _ := strings.Cut(f.Subject.Name, "/")
	l := b.view.LinkNamed(node, name)
	switch {
	case l == nil:
		b.refuse(f, "the device is gone", "look again")
		return
	case b.view.CNISetupOn(node).Calicos == nil:
		b.refuse(f, "the network of "+node+" is not known to be Calico's", "")
		return
	case l.PeerNS == 0:
		b.refuse(f, "its other end was not found: somebody may live where nobody can look", "restart the node when it suits")
		return
	}
	args := map[string]string{"index": strconv.Itoa(l.Index), "seen": strconv.Itoa(minSeen)}
	if s := int(b.o.Settle.Seconds()); s > 0 {
		args["seen"] = strconv.Itoa(s) // a person has said how long is long enough
	}
	for a := range b.view.AttachmentsIn(node, l.PeerNS) {
		if a.Pinned && a.PIDs == 0 {
			args["peerNS"] = strconv.FormatUint(l.PeerNS, 10)
		}
	}
	t := b.target(f, Safe, Proof{NotInUse: &NotInUse{Nodes: []string{node}}})
	t.NoUndo = "a deleted device does not come back"
	b.step(actOnNodes, f, "delete device", f.Subject, Change{Node: &OnNode{Verb: "unlink", Args: args}})
}

// planRoute takes away a host route that leads to another device. Felix writes the right
// one: it puts back what is missing, and lets be what it did not write.
func planRoute(b *builder, f *finding.Finding) {
	t := b.runningPodOn(f)
	if t == nil {
		return
	}
	m := b.view.MachineOf(t.pod.Node)
	if m == nil || m.Felix != "ready" {
		b.refuse(f, "Felix on "+t.pod.Node+" is not ready: nobody would write the right route", "get calico-node to run there")
		return
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
		b.refuse(f, "no route leads elsewhere: one is missing, and Felix puts that back within 90 s if its own records are right", "if it does not, restart calico-node on "+t.pod.Node)
		return
	}
	target := b.target(f, Disruptive, t.proof())
	target.NoUndo = "a route that led to the wrong pod is not set again"
	target.Touches = []string{t.name() + ": packets to it find it again"}
	for _, r := range wrong {
		on := model.Ref{Kind: model.KindPath, Name: t.pod.Node + "/" + r.Dst.Addr().String()}
		args := map[string]string{"link": strconv.Itoa(r.Link), "protocol": strconv.Itoa(r.Protocol), "table": strconv.Itoa(r.Table), "metric": strconv.Itoa(r.Metric)}
		b.step(actOnNodes, f, "delete route", on, Change{Node: &OnNode{Verb: "unroute", Args: args}})
	}
	b.await(f, t)
}

// await waits for Felix to set the routes of a tenant.
func (b *builder) await(f *finding.Finding, t *runningPod) {
	for _, ip := range t.ips {
		on := model.Ref{Kind: model.KindPath, Name: t.pod.Node + "/" + ip.String()}
		b.step(actOnNodes, f, "wait", on, Change{Await: &Await{Node: t.pod.Node, IP: ip, Device: t.outside.Name, Seconds: felixTime}})
	}
}

// planNeighbour takes away static entries that lead a pod's packets astray; nobody else
// ever does. What is learned anew after that is right.
func planNeighbour(b *builder, f *finding.Finding) {
	t := b.runningPodOn(f)
	if t == nil {
		return
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
		b.refuse(f, "no static entry is wrong: the pod itself does not answer, or another answers for it", "see what runs in it")
		return
	}
	target := b.target(f, Disruptive, t.proof())
	target.NoUndo = "an entry that was wrong is not written again"
	target.Touches = []string{t.name() + ": its node asks for it anew"}
	for _, n := range wrong {
		l := b.view.LinkAt(t.pod.Node, n.Link)
		on := model.Ref{Kind: model.KindNeighbour, Name: t.pod.Node + "/" + n.IP.String() + "/" + l.Name}
		args := map[string]string{"link": strconv.Itoa(n.Link), "mac": n.MAC}
		b.step(actOnNodes, f, "delete entry", on, Change{Node: &OnNode{Verb: "unneighbour", Args: args}})
	}
}

// planGateway switches on again what makes the host answer for a pod's gateway.
func planGateway(b *builder, f *finding.Finding) {
	t := b.runningPodOn(f)
	if t == nil {
		return
	}
	var off []string
	for _, key := range []string{"forwarding", "proxy_arp"} {
		if s := b.view.SysctlOf(t.pod.Node, t.outside.Name, key, false); s != nil && s.Value == "0" {
			off = append(off, key)
		}
	}
	if len(off) == 0 {
		b.refuse(f, "no setting of "+t.outside.Name+" is at fault, and neither the node's own routes nor a pod's inside are ours to change", "give the node a default route; or restart the pod when it suits")
		return
	}
	target := b.target(f, Disruptive, t.proof())
	target.NoUndo = "what let the pod answer is not switched off again"
	target.Touches = []string{t.name() + ": its gateway answers again"}
	for _, key := range off {
		on := model.Ref{Kind: model.KindSysctl, Name: t.pod.Node + "/" + t.outside.Name + "/" + key}
		args := map[string]string{"index": strconv.Itoa(t.outside.Index), "value": "1"}
		b.step(actOnNodes, f, "set to 1", on, Change{Node: &OnNode{Verb: "sysctl", Args: args}})
	}
}

// runningPodOn finds the pod that a finding is about, in its place; nil if that was refused.
func (b *builder) runningPodOn(f *finding.Finding) *runningPod {
	ns, name, _ := strings.Cut(f.Subject.Name, "/")
	pod := b.view.PodByName(ns, name)
	if pod == nil {
		b.refuse(f, "the pod is gone", "look again")
		return nil
	}
	t, no := b.runningPodOf(pod)
	if no == nil {
		for _, ip := range t.ips {
			if no = b.otherUser(t, ip); no != nil {
				break
			}
		}
	}
	if no != nil {
		b.refuse(f, no.why, no.advice)
		return nil
	}
	slices.SortFunc(t.ips, netip.Addr.Compare)
	return t
}
