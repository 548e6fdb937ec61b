package repair

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// A sharing is one address and the pods that have it.
type duplicate struct {
	ip      netip.Addr
	own     []*duplicateOwner // whose own nodes say that their device has it
	leaving []*model.Pod      // who end anyway
	wrong   []*model.Pod      // whose books claim it, and whose sandbox does not have it
	notes   []string

	stays *duplicateOwner
	goes  []*duplicateOwner
	why   string // that one stays
}

// A sharer is one pod that really has the address.
type duplicateOwner struct {
	pod     *model.Pod
	sandbox *model.Sandbox
	routed  bool // its node's kernel sends packets to it
	named   bool // the ledger names it
}

func (o *duplicateOwner) handle(b *builder) string {
	if c := b.view.CNISetupOn(o.pod.Node).Calicos; c != nil {
		return c.Network + "." + o.sandbox.ID
	}
	return ""
}

// duplicateOf finds who has an address. Of a pod only its own node speaks (R11).
func (b *builder) duplicateOf(ip netip.Addr) (*duplicate, *refusal) {
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
			return nil, refuse("KubeVirt and Calico hand a machine's address from pod to pod", "%s runs the machine %s", name, pod.VM)
		case !pod.Deleted.IsZero():
			s.leaving = append(s.leaving, pod)
			s.notes = append(s.notes, name+" is being deleted anyway")
			continue
		case !v.Sees(pod.Node, model.Sandboxes, model.Attachments, model.CNIConfigs, model.CNIResults, model.Paths):
			return nil, refuse("get its agent to answer", "%s, where %s lives, was not seen", orText(pod.Node, "the node"), name)
		}
		sandbox := v.RunningSandbox(pod)
		if sandbox == nil || v.Inside(pod.Node, sandbox.ID) == nil || !v.Inside(pod.Node, sandbox.ID).Has(ip) {
			s.wrong = append(s.wrong, pod)
			s.notes = append(s.notes, name+" is left alone: its books say so, but no running sandbox of it has the address")
			continue
		}
		at := v.Inside(pod.Node, sandbox.ID)
		path := v.PathTo(pod.Node, ip)
		s.own = append(s.own, &duplicateOwner{pod: pod, sandbox: sandbox, routed: path != nil && path.Error == "" && path.Link == at.Peer && at.Peer != 0})
	}
	if len(s.own) == 0 {
		return nil, refuse("look again", "no running sandbox has %s", ip)
	}
	if a := v.AllocationOf(ip); a != nil && v.AttributeOf(a) != nil {
		at := v.AttributeOf(a)
		for _, o := range s.own {
			o.named = at.Namespace == o.pod.Namespace && at.Pod == o.pod.Name
		}
	}
	return s, nil
}

// nonPodUser objects if anything but pods of the API has the address.
func (b *builder) nonPodUser(ip netip.Addr) *refusal {
	v := b.view
	for c := range v.Claims(ip) {
		switch c.By {
		case model.ByTunnel:
			if n := v.Node(c.Row); !slices.Contains(n.Addresses, ip) {
				return refuse("restart calico-node on "+n.Name+": it sees that the address is taken and gets another; all traffic between that node and others stops for a moment", "a tunnel of %s has it", n.Name)
			}
		case model.ByService:
			s := v.Service(c.Row)
			return refuse("give the service another address, or end the pods", "service %s/%s has it", s.Namespace, s.Name)
		case model.BySandbox:
			at := v.Attachment(c.Row)
			sandbox := v.SandboxNamed(at.Node, at.Sandbox)
			if sandbox == nil {
				return refuse("see what lives there", "it is in use on %s in %s, which is no sandbox's", at.Node, at.NetNS)
			}
			if device, _ := v.DeviceOf(at.Node, at.Sandbox); at.Device != device {
				continue
			}
			if pod := v.PodByUID(sandbox.UID); pod == nil || pod.Node != sandbox.Node {
				return refuse("see what lives in it", "sandbox %s on %s has it, and no pod of the API is that", short(sandbox.ID), sandbox.Node)
			}
		case model.ByPod, model.ByEndpoint:
		}
	}
	return nil
}

// choose decides who stays: who has the route keeps its connections; else who is named by
// the ledger; else the oldest. Between nodes the ledger alone decides: a node's word about
// its own pod must not cost another node's pod its life.
func (s *duplicate) choose() *refusal {
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
		return refuse("decide which of them stays, and end the others", "its owners are on %d nodes and the ledger names none of them; a node's word alone ends no pod of another", len(nodes))
	}
	switch {
	case s.stays.routed && !apart:
		s.why = "packets to it arrive there"
		if s.stays.named {
			s.why += ", and the ledger names it"
		}
	case s.stays.named:
		s.why = "the ledger names it"
	default:
		s.why = "it is the oldest, none has the route, and the ledger names none"
	}
	slices.SortStableFunc(s.goes, func(x, y *duplicateOwner) int {
		return cmp.Or(x.turn()-y.turn(), cmp.Compare(x.pod.Namespace, y.pod.Namespace), cmp.Compare(x.pod.Name, y.pod.Name))
	})
	return nil
}

const lastTurn = 3

// turn is when a pod goes: those first that serve nobody yet.
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

// evictable objects to ending what nobody makes again.
func (s *duplicate) evictable() *refusal {
	for _, o := range s.goes {
		name := o.pod.Namespace + "/" + o.pod.Name
		switch {
		case o.pod.Static != "":
			return refuse("restart it on "+o.pod.Node+": move its manifest away and back", "%s is a static pod, which eviction does not end", name)
		case o.pod.Owner == "":
			return refuse("end it yourself, if it can be spared", "%s has no controller: nobody would make it again", name)
		case o.pod.UID == "":
			return refuse("", "%s has no UID", name)
		}
	}
	return nil
}

// everybody are the pods that the plan knows to say that the address is theirs.
func (s *duplicate) pods() []*model.Pod {
	out := slices.Concat(s.leaving, s.wrong)
	for _, o := range s.own {
		out = append(out, o.pod)
	}
	return out
}
