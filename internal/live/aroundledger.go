package live

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

func (a *around) blocksWith(ip netip.Addr) {
	for b := range a.s.blocksWith(ip) {
		a.blocks.add(b.Block)
	}
}

// allocation adds whom the ledger names, and what else the same handle holds.
func (a *around) allocation(ip netip.Addr) {
	a.address(ip)
	for b := range a.s.blocksWith(ip) {
		for at := range attributesOf(b, ip) {
			ns, n := at.PodName()
			a.pod(name{ns, n})
			a.name(at.Node)
			a.services.add(a.s.services[name{at.Namespace, at.Service}])
			a.vms.add(a.s.vms[name{at.Namespace, at.Machine()}])
			a.held(model.HandleKey(at.Handle))
		}
	}
}

// held adds the blocks that name a handle, and who claims what it holds.
func (a *around) held(handle string) {
	if handle == "" || !a.first(owner{model.KindHandle, name{"held", handle}}) {
		return
	}
	for b := range a.s.blocksHeld.of(handle) {
		a.blocks.add(b.Block)
		for ip, at := range allocations(b.Block) {
			if at != nil && model.HandleKey(at.Handle) == handle {
				a.address(ip)
			}
		}
	}
}

func (a *around) block(c netip.Prefix) {
	for b := range a.s.blocksAround(c) {
		a.blocks.add(b.Block)
		a.name(b.Node())
	}
	for af := range a.s.affinityAt.of(c.Masked()) {
		a.affinities.add(af)
	}
}

func (a *around) handle(key string) {
	for b := range a.s.blocksHeld.of(key) {
		a.blocks.add(b.Block)
	}
	for h := range a.s.handlesAt.of(key) {
		a.handles.add(h)
		for _, c := range h.Blocks {
			for b := range a.s.blocksAt.of(c.CIDR.Masked()) {
				a.blocks.add(b.Block)
			}
		}
	}
}

func (a *around) affinity(node string, c netip.Prefix) {
	for af := range a.s.affinityAt.of(c.Masked()) {
		if af.Node == node {
			a.affinities.add(af)
		}
	}
	for b := range a.s.blocksAt.of(c.Masked()) {
		a.blocks.add(b.Block)
	}
	a.name(node)
}

// nodeJudged adds what the ledger has of a node's tunnels.
func (a *around) nodeJudged(n string) {
	a.name(n)
	if h := a.s.hosts[n]; a.s.nodes[n] == nil && h != nil {
		n = saysNode(h) // by that name the other is found, and judged
	}
	a.factsOf(n)
	for ip := range a.s.tunnelsOf(n) {
		a.blocksWith(ip)
	}
}

func (a *around) event(k name) {
	for e := range a.s.events.of(k) {
		a.events.add(e)
		a.factsOf(e.Node)
	}
	a.pod(k)
}
