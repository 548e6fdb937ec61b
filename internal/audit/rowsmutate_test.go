package audit_test

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

func (c *churn) pod(p *model.Pod) {
	p.Revision = c.revision()
	switch c.rnd.IntN(17) {
	case 0:
		p.Node = c.someNode()
	case 1:
		p.Phase = model.Phase(c.one("Running", "Running", "Pending", "Succeeded", "Failed"))
	case 2:
		p.Ready = !p.Ready
	case 3:
		p.Deleted = []model.Time{0, now - 10, now - 400, now + 60}[c.rnd.IntN(4)]
	case 4:
		p.IPs = []netip.Addr{c.someAddress()}
	case 5:
		p.IPs = append(slices.Clone(p.IPs), c.someAddress())
	case 6:
		p.Annotation = model.Annotation(c.one("", "written", "emptied", "garbled"))
	case 7:
		p.Annotated = []netip.Addr{c.someAddress()}
		p.Annotation = model.Written
	case 8:
		p.ContainerID = containerOf(c.one(p.Name, pickRow(c, c.s.Pods).Name, "older"+p.Name))
	case 9:
		p.HostNetwork = !p.HostNetwork
	case 10:
		p.NoIPAM = !p.NoIPAM
	case 11:
		p.VM = c.one("", "vm", "vm2")
	case 12:
		p.UID = uidOf(c.one(p.Name, p.Name+"x"))
	case 13:
		p.Finalizers = append(slices.Clone(p.Finalizers), "x")
	case 14:
		p.Created, p.Written = p.Created+1, now-5
	case 15:
		p.Volumes = nil
		if dir := c.one("", "/", "/var/lib"); dir != "" {
			p.Volumes = []string{model.RuntimeDir + dir}
		}
	default: // only written
		p.Written = now - model.Time(c.rnd.IntN(100))
	}
}

func (c *churn) node(n *model.Node) {
	n.Revision = c.revision()
	switch c.rnd.IntN(6) {
	case 5:
		n.CalicoIPs = []netip.Addr{netip.MustParseAddr(c.one("198.51.100.1", "198.51.100.2"))}
	case 0:
		n.Ready, n.Changed = !n.Ready, now-30
	case 1:
		n.Tunnels = []model.Tunnel{{Kind: "vxlan", IP: c.someAddress()}}
	case 2:
		n.Tunnels = nil
	case 3:
		n.Addresses = []netip.Addr{c.someAddress()}
	}
}

func (c *churn) host(h *model.Host) {
	h.Revision = c.revision()
	switch c.rnd.IntN(3) {
	case 0:
		h.Kubernetes = c.one("", pickRow(c, c.s.Nodes).Name, "elsewhere")
	case 1:
		h.Tunnels = []model.Tunnel{{Kind: "vxlan", IP: c.someAddress()}}
	case 2:
		if n := c.one(h.Name+"x", strings.TrimSuffix(h.Name, "x"), pickRow(c, c.s.Nodes).Name); n != "" {
			h.Name = n
		}
	}
}

func (c *churn) service(s *model.Service) {
	s.Revision = c.revision()
	if c.rnd.IntN(3) == 0 {
		s.Name = c.one("front", "back")
		return
	}
	s.IPs = []netip.Addr{c.someAddress()}
}

func (c *churn) handle(h *model.Handle) {
	h.Revision = c.revision()
	switch c.rnd.IntN(6) {
	case 0:
		h.Deleted = !h.Deleted
	case 1:
		if b := pickRow(c, c.s.Blocks); b.CIDR.IsValid() {
			h.Blocks = append(slices.Clone(h.Blocks), model.BlockCount{CIDR: b.CIDR, Count: 1})
		}
	case 2:
		h.Blocks = slices.Clone(h.Blocks)
		if len(h.Blocks) > 0 {
			h.Blocks[0].Count += c.rnd.IntN(3) - 1
		}
	case 3: // the same to Calico
		h.ID = c.one(strings.ToUpper(h.ID), strings.ToLower(h.ID))
	case 4:
		h.ID = pickRow(c, c.s.Handles).ID
	}
}

func (c *churn) affinity(a *model.Affinity) {
	a.Revision = c.revision()
	switch c.rnd.IntN(6) {
	case 0:
		a.Node = c.someNode()
	case 1:
		a.State = c.one("confirmed", "pending", "pendingDeletion")
	case 2:
		a.Labelled = !a.Labelled
	case 3:
		a.Deleted = !a.Deleted
	case 4:
		if b := pickRow(c, c.s.Blocks); b.CIDR.IsValid() {
			a.CIDR = b.CIDR
		}
	}
}

func (c *churn) endpoint(e *model.Endpoint) {
	e.Revision = c.revision()
	switch c.rnd.IntN(6) {
	case 0:
		e.Node = c.someNode()
	case 1:
		e.Pod = c.one(pickRow(c, c.s.Pods).Name, "gone")
	case 2:
		e.IPs = []netip.Addr{c.someAddress()}
	case 3:
		e.ContainerID = containerOf(c.one(e.Pod, "older"+e.Pod))
	case 4:
		e.Interface = c.one("eth0", "net1", "")
	}
}

func (c *churn) block(b *model.Block) {
	b.Revision, b.Written = c.revision(), now-model.Time(c.rnd.IntN(900))
	b.Held, b.Attributes, b.Free = slices.Clone(b.Held), slices.Clone(b.Attributes), slices.Clone(b.Free)
	at := func() *model.Attribute { return pickRow(c, b.Attributes) }
	switch c.rnd.IntN(15) {
	case 14: // full
		for len(b.Free) > 0 && len(b.Attributes) > 0 {
			b.Held = append(b.Held, model.Slot{b.Free[0], int32(c.rnd.IntN(len(b.Attributes)))})
			b.Free = b.Free[1:]
		}
	case 0:
		b.Affinity = c.one("host:"+c.someNode(), "", "virtual:load-balancer")
	case 1, 2: // given back
		if len(b.Held) > 0 {
			i := c.rnd.IntN(len(b.Held))
			b.Free = append(b.Free, b.Held[i][0])
			b.Held = slices.Delete(b.Held, i, i+1)
		}
	case 3, 4: // taken, for somebody who is named elsewhere
		from := pickRow(c, c.s.Blocks)
		if len(b.Free) > 0 && len(from.Attributes) > 0 {
			b.Attributes = append(b.Attributes, *pickRow(c, from.Attributes))
			b.Held = append(b.Held, model.Slot{b.Free[0], int32(len(b.Attributes) - 1)})
			b.Free = b.Free[1:]
		}
	case 5:
		at().Node = c.someNode()
	case 6:
		at().Pod = c.one(pickRow(c, c.s.Pods).Name, "gone", "")
	case 7:
		a := at()
		a.Handle = c.one(strings.ToUpper(a.Handle), pickRow(c, c.s.Handles).ID, "", network+"."+containerOf("older"+a.Pod), network+"."+containerOf("older"+a.Pod))
	case 8: // points nowhere
		if len(b.Held) > 0 && c.rnd.IntN(4) == 0 {
			b.Held[0][1] = int32(c.one("5", "7")[0])
		}
	case 9: // its attributes move
		if len(b.Attributes) > 0 && c.rnd.IntN(3) == 0 {
			b.Attributes = b.Attributes[1:]
			for i := range b.Held {
				b.Held[i][1]--
			}
		}
	case 10:
		b.Deleted = !b.Deleted
	case 11: // another size, which overlaps
		if c.rnd.IntN(3) == 0 {
			b.CIDR = netip.PrefixFrom(b.CIDR.Addr(), b.CIDR.Bits()+c.rnd.IntN(4)-2).Masked()
		}
	case 12:
		at().Service, at().VM = c.one("", "front", "back"), c.one("", "vm")
	case 13:
		at().Cooling, at().Type = c.rnd.IntN(4) == 0, c.one("", "vxlanTunnelAddress", "LoadBalancer")
	}
}
