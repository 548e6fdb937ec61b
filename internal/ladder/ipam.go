package ladder

import (
	"cmp"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// byIPAM tells that Calico IPAM gives the pod its addresses.
func (b *builder) byIPAM() bool { return !b.p.NoIPAM && b.calico.IPAM == "calico" }

// notByIPAM is a cell of pods whose addresses are not Calico IPAM's, or not known to be.
func (b *builder) notByIPAM() Cell {
	if b.calico.IPAM == "calico" || b.calico.IPAM == "host-local" || b.calico.IPAM == "other" {
		return Cell{Says: "not of Calico IPAM", Mark: Nothing}
	}
	return Cell{Says: "not checked: IPAM is unknown", Mark: Unread}
}

func (b *builder) block() Rung {
	r := Rung{Part: partBlock}
	var ok bool
	if r.Cells[calico], ok = b.unread("", model.Blocks, model.Pools); !ok {
		return r
	}
	if !b.byIPAM() {
		r.Cells[calico] = b.notByIPAM()
		return r
	}
	var says []string
	worst := Mark("")
	for _, ip := range b.ips {
		if b.v.PoolWith(ip) == nil && b.v.AllocationOf(ip) == nil {
			says = append(says, ip.String()+" in no pool of Calico")
			continue
		}
		text, mark := b.allocation(ip.String(), b.v.AllocationOf(ip))
		if mark == Missing {
			for k := range b.v.BlocksWith(ip) {
				text = fmt.Sprintf("FREE in %s", k.CIDR)
				if len(b.ips) > 1 {
					text = ip.String() + " " + text
				}
			}
		}
		says = append(says, text)
		if mark == Missing || worst == "" {
			worst = mark
		}
	}
	r.Cells[calico] = Cell{Says: strings.Join(says, ", "), Mark: worst}
	if worst != "" && !b.expected {
		r.Cells[calico].Mark = Nothing
	}
	return r
}

// allocation says who an address is allocated to.
func (b *builder) allocation(ip string, a *model.Allocation) (says string, m Mark) {
	if a == nil {
		return ip + " IN NO BLOCK", Missing
	}
	at := b.v.AttributeOf(a)
	where := fmt.Sprintf("%s #%d", b.v.BlockOf(a).CIDR, a.Ordinal)
	switch {
	case at == nil:
		return where + ", owner unreadable", Differs
	case at.Pod == "" || at.Namespace == b.p.Namespace && (at.Pod == b.p.Name || at.Alternate == b.p.Name || at.VM != "" && at.VM == b.p.VM):
		return where, "" // also of a virtual machine that moves
	case !b.may(at.Namespace):
		return where + ", OF a pod that you may not list", Differs
	case at.Pod != "":
		return fmt.Sprintf("%s, OF %s/%s", where, at.Namespace, at.Pod), Differs
	default:
		return where, ""
	}
}

func (b *builder) handle() Rung {
	r := Rung{Part: partHandle}
	var ok bool
	if r.Cells[calico], ok = b.unread("", model.Blocks, model.Handles); !ok {
		return r
	}
	if !b.byIPAM() {
		r.Cells[calico] = b.notByIPAM()
		return r
	}
	r.Cells[calico] = Cell{Says: "none", Mark: Nothing} // of an address that is not allocated
	for _, ip := range b.ips {
		a := b.v.AllocationOf(ip)
		if a == nil {
			continue
		}
		at := b.v.AttributeOf(a)
		if at == nil || at.Handle == "" {
			continue
		}
		if ns, _ := at.PodName(); !b.may(cmp.Or(at.Namespace, ns)) {
			r.Cells[calico] = Cell{Says: "not shown to you", Mark: Unread}
			continue
		}
		r.Cells[calico] = Cell{Says: plain.ShortIDs(at.Handle), value: model.ContainerOf(at.Handle)}
		for h := range b.v.HandlesOf(at.Handle) {
			if h.Missing {
				r.Cells[calico] = b.missing("NO OBJECT " + plain.ShortIDs(at.Handle))
			}
			break
		}
		break
	}
	if b.box != nil && r.Cells[calico].value != "" {
		r.Cells[node] = Cell{Says: plain.ShortID(b.box.ID), value: b.box.ID}
	}
	return r
}

// record is the WorkloadEndpoint; with custom resources it is the pod with its annotation.
func (b *builder) record() Rung {
	r := Rung{Part: partEndpoint}
	if b.calico.Network != "calico" {
		r.Cells[calico] = Cell{Says: "not of Calico", Mark: Nothing}
		return r
	}
	if !b.calico.Etcd {
		switch b.p.Annotation {
		case model.Written:
			r.Cells[calico] = Cell{Says: "the pod, annotated"}
		case model.Emptied:
			r.Cells[calico] = b.missing("ANNOTATION EMPTIED")
		case model.Garbled:
			r.Cells[calico] = b.missing("ANNOTATION UNREADABLE")
		default:
			r.Cells[calico] = b.missing("NO ANNOTATION")
		}
		return r
	}
	var ok bool
	if r.Cells[calico], ok = b.unread("", model.Endpoints); !ok {
		return r
	}
	if b.endpoint == nil {
		r.Cells[calico] = b.missing("NONE")
		return r
	}
	r.Cells[kubernetes] = Cell{Says: "on " + b.p.Node}
	r.Cells[calico] = Cell{Says: "on " + b.endpoint.Node}
	if !b.v.SameNode(b.endpoint.Node, b.p.Node) {
		r.Cells[calico].Mark = Differs
	}
	return r
}
