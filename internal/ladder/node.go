package ladder

import (
	"cmp"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// device is the host interface that Calico has for the pod; empty if that is unknown. With custom resources Calico does
// not record it: its plugin names it after the pod, behind a prefix that may be set.
func (b *builder) device() string {
	if b.calico.Etcd {
		if b.endpoint == nil {
			return ""
		}
		return b.endpoint.Device
	}
	if l := b.peer(); l != nil && strings.HasSuffix(l.Name, model.DeviceName("", b.p.Namespace, b.p.Name)) {
		return l.Name
	}
	if b.calico.Network == "calico" && b.calico.Dataplane != "vpp" {
		prefix, _, _ := strings.Cut(b.calico.InterfacePrefix, ",")
		return model.DeviceName(cmp.Or(prefix, "cali"), b.p.Namespace, b.p.Name)
	}
	return ""
}

// peer is the host's end of the pod's interface.
func (b *builder) peer() *model.Link {
	if b.in == nil || b.in.Peer == 0 {
		return nil
	}
	return b.v.LinkAt(b.p.Node, b.in.Peer)
}

// elsewhere is a cell where Calico does not use the node's kernel, or does not connect pods; ok is false then.
func (b *builder) elsewhere() (c Cell, ok bool) {
	switch {
	case b.calico.Dataplane == "vpp":
		return Cell{Says: "not in the kernel (VPP)", Mark: Nothing}, false
	case b.calico.Network != "calico":
		return Cell{Says: "not of Calico", Mark: Nothing}, false
	default:
		return Cell{}, true
	}
}

func (b *builder) veth() Rung {
	r := Rung{Part: partVeth}
	if c, ok := b.elsewhere(); !ok {
		r.Cells[node] = c
		return r
	}
	if d := b.device(); d != "" {
		r.Cells[calico] = Cell{Says: d, value: d}
	}
	var ok bool
	if r.Cells[node], ok = b.unread(b.p.Node, model.Sandboxes, model.Attachments, model.Links); !ok || b.box == nil {
		return b.boxless(r)
	}
	if b.in == nil && !b.looked() {
		r.Cells[node] = Cell{Says: "not checked: namespace not found", Mark: Unread}
		return r
	}
	r.Cells[node] = b.missing("GONE")
	if l := b.peer(); l != nil {
		r.Cells[node] = Cell{Says: l.Name + ", up", value: l.Name}
		if !l.Up {
			r.Cells[node] = Cell{Says: l.Name + ", DOWN", value: l.Name, Mark: Differs}
		}
	}
	return r
}

// route compares where the kernel sends packets to the pod's addresses with the interface that the pod is behind.
func (b *builder) route() Rung {
	r := Rung{Part: partRoute}
	if c, ok := b.elsewhere(); !ok {
		r.Cells[node] = c
		return r
	}
	if d := b.device(); d != "" && len(b.ips) > 0 {
		r.Cells[calico] = Cell{Says: "to " + d, value: d}
	}
	var ok bool
	if r.Cells[node], ok = b.unread(b.p.Node, model.Links, model.Paths); !ok || len(b.ips) == 0 {
		return r
	}
	var says []string
	to, gone, unasked := "", false, false
	for _, ip := range b.ips {
		p := b.v.PathTo(b.p.Node, ip)
		if p == nil { // the agent did not ask the kernel for it
			says, unasked = append(says, "not checked: "+ip.String()), true
			continue
		}
		if p.Error != "" {
			says, gone = append(says, "NO ROUTE to "+ip.String()), true
			continue
		}
		name := "if" + strconv.Itoa(p.Link)
		if l := b.v.LinkAt(b.p.Node, p.Link); l != nil {
			name = l.Name
		}
		says = append(says, "to "+name)
		if to == "" || to == r.Cells[calico].value {
			to = name // the one that differs is compared
		}
	}
	r.Cells[node] = Cell{Says: strings.Join(compact(says), ", "), value: to}
	switch {
	case gone:
		r.Cells[node] = b.missing(r.Cells[node].Says)
	case unasked:
		r.Cells[node].Mark = Unread
	}
	return r
}

// neighbour compares the entries for the pod's addresses with its interface. There need not be one: the kernel asks
// when it has a packet.
func (b *builder) neighbour() Rung {
	r := Rung{Part: partNeighbour}
	var ok bool
	if r.Cells[node], ok = b.unread(b.p.Node, model.Links, model.Neighbours, model.Attachments); !ok || b.in == nil {
		return r
	}
	var says []string
	wrong := false
	for _, ip := range b.ips {
		for n := range b.v.NeighboursOf(b.p.Node, ip) {
			switch {
			case n.Proxy:
			case n.Link != b.in.Peer:
				name := "if" + strconv.Itoa(n.Link)
				if l := b.v.LinkAt(b.p.Node, n.Link); l != nil {
					name = l.Name
				}
				says, wrong = append(says, ip.String()+" ON "+name), true
			case n.MAC != "" && b.in.MAC != "" && !strings.EqualFold(n.MAC, b.in.MAC):
				says, wrong = append(says, n.MAC+", eth0 has "+b.in.MAC), true
			default:
				says = append(says, strings.TrimSpace(n.MAC+" "+strings.ToLower(n.State)))
			}
		}
	}
	r.Cells[node] = Cell{Says: strings.Join(says, ", ")}
	if len(says) == 0 {
		r.Cells[node] = Cell{Says: "none, asked for when needed", Mark: Nothing}
	}
	if wrong && b.expected {
		r.Cells[node].Mark = Differs
	}
	return r
}

// compact removes what follows itself.
func compact(all []string) (out []string) {
	for _, s := range all {
		if len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	return out
}
