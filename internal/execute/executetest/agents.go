package executetest

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

var errNoAnswer = errors.New("no answer within 10s")

// agents gives live verifications from the true state of the simulated nodes.
type agents struct{ w *world }

// Names lists the Node objects: a machine whose Node was deleted is not listed.
func (a agents) Names(context.Context) ([]string, error) {
	var out []string
	for _, r := range a.w.kube.all(model.KindNode) {
		out = append(out, r.ref.Name)
	}
	return out, nil
}

// Published returns the names that the agent of a node published in this boot.
func (a agents) Published(_ context.Context, name string) ([]string, bool) {
	n := a.w.node(name)
	if n == nil {
		return nil, false
	}
	return n.called, len(n.called) > 0
}

// publishes has an agent that answers publish the name of its node.
func (n *node) publishes() {
	if !n.silent && !slices.Contains(n.called, n.calico) {
		n.called = append(n.called, n.calico)
	}
}

// Ask has the agent on a node verify.
func (a agents) Ask(_ context.Context, name string, ips []netip.Addr, containers []string) (model.Verification, error) {
	w, n := a.w, a.w.node(name)
	if n == nil || n.silent {
		return model.Verification{}, errNoAnswer
	}
	w.asked = w.now
	out := model.Verification{
		Node: name, Taken: w.time(), Containers: containers, IPs: texts(ips), All: len(ips)+len(containers) == 0, Complete: !n.half,
		BootID: n.bootID(), Uptime: (w.now - n.booted) / second, NodeName: name, CalicoName: cmp.Or(n.lies, n.calico), ConfigName: cmp.Or(n.lies, n.calico), Network: network,
	}
	if n.half {
		out.Missing = []string{"sandboxes: the runtime does not answer", "namespaces: permission denied"}
	}
	about := func(cid string, has []netip.Addr) bool {
		return out.All || slices.Contains(containers, cid) || slices.ContainsFunc(has, func(ip netip.Addr) bool { return slices.Contains(ips, ip) })
	}
	for _, b := range n.boxes {
		if !about(b.id, b.ips) {
			continue
		}
		if b.listed && !n.half {
			out.Sandboxes = append(out.Sandboxes, b.sandbox())
		}
		if at, ok := n.attachment(b); ok && !n.half {
			out.Attachments = append(out.Attachments, at)
		}
	}
	for _, c := range n.calls {
		out.Calls = append(out.Calls, c.process())
	}
	for _, r := range n.cache {
		if about(r.cid, r.ips) {
			out.Results = append(out.Results, r.result())
		}
	}
	if n.tunnel.IsValid() && slices.Contains(ips, n.tunnel) {
		out.Links = append(out.Links, n.overlay())
	}
	return out, nil
}

func (b *box) sandbox() model.Sandbox {
	s := model.Sandbox{ID: b.id, Namespace: b.ns, Pod: b.pod, UID: b.uid, Attempt: b.attempt, Ready: b.ready}
	if b.own {
		s.Handler = "runsc"
	}
	if b.netns {
		s.NetNS, s.Inode, s.PID = "/run/netns/cni-"+b.id, b.inode, 1000
	}
	return s
}

// attachment is the interface in a sandbox, or its empty network namespace.
func (n *node) attachment(b *box) (model.Attachment, bool) {
	if !b.netns {
		return model.Attachment{}, false
	}
	at := model.Attachment{Sandbox: b.id, NetNS: "/run/netns/cni-" + b.id, Inode: b.inode, PIDs: b.pids, Pinned: true}
	if !b.listed {
		at.Sandbox = "" // the runtime does not know it yet
	}
	if b.link == 0 {
		return at, true
	}
	at.Device, at.Index, at.Peer, at.PeerNS, at.Up, at.MAC = "eth0", 3, b.link, hostNS, true, podMAC
	for _, ip := range b.ips {
		if !b.own {
			at.IPs = append(at.IPs, single(ip))
		}
	}
	return at, true
}

func (c *call) process() model.Process {
	return model.Process{PID: c.pid, Name: "calico", Why: "cni", State: "S", Command: c.command, CNI: c.cid}
}

func (r cached) result() model.CNIResult {
	out := model.CNIResult{Network: network, Container: r.cid, Interface: "eth0"}
	for _, ip := range r.ips {
		out.IPs = append(out.IPs, single(ip))
	}
	return out
}

func (n *node) overlay() model.Link {
	return model.Link{Index: 5, Name: "vxlan.calico", Kind: "vxlan", Up: true, IPs: []netip.Prefix{single(n.tunnel)}}
}

const hostNS = 4026531840 // inode of the host's network namespace

const podMAC = "0a:00:00:00:00:01"
