package planner

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// A duplicate is one address and the pods that have it. Invariant after choose: own is stays followed by goes.
type duplicate struct {
	ip      netip.Addr
	own     []*duplicateOwner // pods whose running sandbox has it, by their own node
	leaving []*model.Pod      // pods that are being deleted
	wrong   []*model.Pod      // pods with it in status, annotation or endpoint whose sandbox does not have it
	notes   []string

	stays *duplicateOwner   // keeps the address
	goes  []*duplicateOwner // are evicted, in this order
	why   string            // why stays keeps it
}

// A duplicateOwner is a pod whose running sandbox has the address.
type duplicateOwner struct {
	pod     *model.Pod
	sandbox *model.Sandbox
	routed  bool // its node routes the address to it
	named   bool // IPAM names it
}

func (o *duplicateOwner) handle(b *builder) string {
	if c := b.view.CNISetupOn(o.pod.Node).Calicos; c != nil {
		return c.Network + "." + o.sandbox.ID
	}
	return ""
}

// duplicateOf finds the pods that have an address. Only the report of a pod's own node counts for that pod.
func (b *builder) duplicateOf(ip netip.Addr) (*duplicate, *repair.Refusal) {
	v := b.view
	s := &duplicate{ip: ip}
	if no := b.nonPodUser(ip); no != nil {
		return nil, no
	}
	var seen []*model.Pod
	for pod := range v.PodsWith(ip) {
		if slices.Contains(seen, pod) {
			continue
		}
		seen = append(seen, pod)
		name := pod.Namespace + "/" + pod.Name
		switch {
		case pod.VM != "":
			return nil, refuse("KubeVirt and Calico move the address of a VM between its pods", "%s runs the VM %s", name, pod.VM)
		case !pod.Deleted.IsZero():
			s.leaving = append(s.leaving, pod)
			s.notes = append(s.notes, name+" is already being deleted")
			continue
		case !v.Sees(pod.Node, model.Sandboxes, model.Attachments, model.CNIConfigs, model.CNIResults, model.Paths):
			return nil, refuse("make the agent on the node answer", "%s, which runs %s, was not checked", cmp.Or(pod.Node, "the node"), name)
		}
		sandbox := v.RunningSandbox(pod)
		if no := mayUse(v, sandbox, name, ip); no != nil {
			return nil, no
		}
		if sandbox == nil || v.Inside(pod.Node, sandbox.ID) == nil || !v.Inside(pod.Node, sandbox.ID).Has(ip) {
			s.wrong = append(s.wrong, pod)
			s.notes = append(s.notes, name+" is not changed: it has the address in its status, annotation or endpoint, but not in a running sandbox")
			continue
		}
		at := v.Inside(pod.Node, sandbox.ID)
		path := v.PathTo(pod.Node, ip)
		s.own = append(s.own, &duplicateOwner{pod: pod, sandbox: sandbox, routed: path != nil && path.Error == "" && path.Link == at.Peer && at.Peer != 0})
	}
	if len(s.own) == 0 {
		return nil, refuse("run plumbline check again", "no running sandbox has %s", ip)
	}
	if a := v.AllocationOf(ip); a != nil && v.AttributeOf(a) != nil {
		at := v.AttributeOf(a)
		for _, o := range s.own {
			o.named = at.Namespace == o.pod.Namespace && at.Pod == o.pod.Name
		}
	}
	return s, nil
}

// mayUse refuses if a running sandbox may use the address although the node's kernel does not
// show it in there: another pod must not get it on the report of one node.
func mayUse(v *model.View, sandbox *model.Sandbox, pod string, ip netip.Addr) *repair.Refusal {
	if sandbox == nil {
		return nil
	}
	if at := v.Inside(sandbox.Node, sandbox.ID); at != nil && at.Has(ip) {
		return nil
	}
	const next = "decide which pod keeps the address, and delete the others"
	if !sandbox.SharesKernel() {
		return refuse(next, "%s may use it: its runtime %s has a network stack of its own, whose addresses the node's kernel does not show", pod, sandbox.Handler)
	}
	for r := range v.CNIResultsOf(sandbox.Node, sandbox.ID) {
		for _, p := range r.IPs {
			if p.Addr() == ip {
				return refuse(next, "%s may use it: the CNI plugin gave it to its running sandbox, although its interface does not have it now", pod)
			}
		}
	}
	return nil
}

// nonPodUser refuses if anything except pods in Kubernetes has the address.
func (b *builder) nonPodUser(ip netip.Addr) *repair.Refusal {
	v := b.view
	for c := range v.Claims(ip) {
		switch c.By {
		case model.ByTunnel:
			if n := v.Node(c.Row); !slices.Contains(n.Addresses, ip) {
				return refuse("restart calico-node on "+n.Name+": it then takes another tunnel address; traffic between "+n.Name+" and all other nodes is interrupted briefly", "it is the tunnel address of %s", n.Name)
			}
		case model.ByService:
			s := v.Service(c.Row)
			return refuse("give the service another address, or delete the pods", "service %s/%s has it", s.Namespace, s.Name)
		case model.BySandbox:
			at := v.Attachment(c.Row)
			sandbox := v.SandboxNamed(at.Node, at.Sandbox)
			if sandbox == nil {
				return refuse("check what runs in that namespace", "it is in use on %s in %s, which belongs to no sandbox", at.Node, at.NetNS)
			}
			if device, _ := v.DeviceOf(at.Node, at.Sandbox); at.Device != device {
				continue
			}
			if pod := v.PodByUID(sandbox.UID); pod == nil || pod.Node != sandbox.Node {
				return refuse("check what runs in that sandbox", "sandbox %s on %s has it, and belongs to no pod in Kubernetes", shortID(sandbox.ID), sandbox.Node)
			}
		case model.ByPod, model.ByEndpoint:
		}
	}
	return nil
}

// choose sets stays, goes and why. On one node: the pod with the route stays, because its
// connections survive; else the pod that IPAM names; else the oldest. On several nodes the
// pod that IPAM names stays, and without one it refuses: the report of one node is not
// enough to evict a pod of another node.
func (s *duplicate) choose() *repair.Refusal {
	nodes := map[string]bool{}
	for _, o := range s.own {
		nodes[o.pod.Node] = true
	}
	apart := len(nodes) > 1
	yes := func(is bool) int {
		if is {
			return 0
		}
		return 1
	}
	slices.SortFunc(s.own, func(x, y *duplicateOwner) int {
		by := cmp.Or(yes(x.routed)-yes(y.routed), yes(x.named)-yes(y.named))
		if apart {
			by = cmp.Or(yes(x.named)-yes(y.named), yes(x.routed)-yes(y.routed))
		}
		return cmp.Or(by, cmp.Compare(x.pod.Created, y.pod.Created), cmp.Compare(x.pod.Namespace, y.pod.Namespace), cmp.Compare(x.pod.Name, y.pod.Name))
	})
	s.stays, s.goes = s.own[0], slices.Clone(s.own[1:])
	if apart && !s.stays.named {
		return refuse("decide which pod keeps the address, and delete the others", "the pods are on %d nodes and IPAM names none of them; the report of one node is not enough to evict a pod of another", len(nodes))
	}
	switch {
	case s.stays.routed && !apart:
		s.why = "its node routes the address to it"
		if s.stays.named {
			s.why += ", and IPAM names it"
		}
	case s.stays.named:
		s.why = "IPAM names it"
	default:
		s.why = "it is the oldest; no pod has the route, and IPAM names none"
	}
	slices.SortStableFunc(s.goes, func(x, y *duplicateOwner) int {
		return cmp.Or(x.turn()-y.turn(), cmp.Compare(x.pod.Namespace, y.pod.Namespace), cmp.Compare(x.pod.Name, y.pod.Name))
	})
	return nil
}

const lastTurn = 3

// turn orders evictions: pods that serve no traffic first, pods of StatefulSets last.
func (o *duplicateOwner) turn() int {
	switch {
	case strings.HasPrefix(o.pod.Owner, "StatefulSet/"):
		return lastTurn
	case o.pod.Phase == model.Pending:
		return 0
	case !o.pod.Ready:
		return 1
	default:
		return 2
	}
}

// evictable refuses to evict pods that no controller creates again.
func (s *duplicate) evictable() *repair.Refusal {
	for _, o := range s.goes {
		name := o.pod.Namespace + "/" + o.pod.Name
		switch {
		case o.pod.Static != "":
			return refuse("restart it on "+o.pod.Node+": move its manifest away and back", "%s is a static pod, which cannot be evicted", name)
		case o.pod.Owner == "":
			return refuse("delete the pod yourself if it is not needed", "%s has no controller that would create it again", name)
		case o.pod.UID == "":
			return refuse("", "%s has no UID", name)
		}
	}
	return nil
}

// pods gives all pods of the duplicate.
func (s *duplicate) pods() []*model.Pod {
	out := slices.Concat(s.leaving, s.wrong)
	for _, o := range s.own {
		out = append(out, o.pod)
	}
	return out
}
