package load

import (
	"fmt"
	"time"
)

// inject creates one fault, with pods and addresses that nothing else uses.
func (c *cell) inject(f injection) {
	switch f.kind {
	case Leaked:
		p := c.gonePod(f)
		c.claim(p, c.host.name)
		c.addHandle(p.handleID(), p.address, 1, p.created)
		c.report(Fault{Kind: f.kind, Subject: p.address.String(), Pod: p.key(), Handle: p.handleID()}, p)
	case StaleEndpoint:
		p := c.gonePod(f)
		c.stale = append(c.stale, p)
		c.report(Fault{Kind: f.kind, Subject: p.address.String(), Pod: p.key()}, p)
	case OrphanHandle:
		p := c.gonePod(f) // nothing shows which pod had the handle
		c.addHandle(p.handleID(), p.address, 1, p.created)
		c.report(Fault{Kind: f.kind, Subject: p.handleID(), Handle: p.handleID()}, p)
	case Finished:
		p := c.finishedPod(f)
		c.pods = append(c.pods, p)
		c.report(Fault{Kind: f.kind, Subject: p.address.String(), Pod: p.key()}, p)
	case GoneNodeAffinity:
		c.goneAffinity(f)
	case BadIndex:
		c.breakBlock(f)
	case Unallocated, MiscountedHandle, MissingHandle, NoAnnotation, SharedAddress, WrongNode:
		c.injure(f.kind, c.newPod(c.takeAddress()))
	}
}

// injure creates a fault of a running pod.
func (c *cell) injure(k Kind, p pod) {
	fault := Fault{Kind: k, Subject: p.address.String(), Pod: p.key(), Handle: p.handleID()}
	node, claimed, count := c.host.name, true, 1
	switch k {
	case Unallocated:
		claimed, count, fault.Handle = false, 0, ""
	case MiscountedHandle:
		count, fault.Subject = 3, fault.Handle
	case MissingHandle:
		count, fault.Subject = 0, fault.Handle
	case NoAnnotation:
		p.endpoint = false
	case WrongNode:
		node = c.otherNode()
		fault.Other = node
	case SharedAddress:
		other := c.newPod(p.address)
		c.pods = append(c.pods, other)
		fault.Other = other.key()
	case Leaked, OrphanHandle, StaleEndpoint, GoneNodeAffinity, BadIndex, Finished: // these need no running pod
	}
	c.pods = append(c.pods, p)
	if claimed {
		c.claim(p, node)
	}
	if count > 0 {
		c.addHandle(p.handleID(), p.address, count, p.created.Add(time.Second))
	}
	c.report(fault, p)
}

// report records what was injected, and where.
func (c *cell) report(f Fault, p pod) {
	f.Node, f.Block = c.host.name, c.blockOf(p.address).CIDR
	c.faults = append(c.faults, f)
}

// gonePod returns a pod that no longer exists. Its name is unique: the serials of faults
// begin after those of pods.
func (c *cell) gonePod(f injection) pod {
	a := c.host.tunnel // only its block matters
	if f.kind.addresses() > 0 {
		a = c.takeAddress()
	}
	p := c.newPod(a)
	c.serial--
	p.name = p.app.replicaSet() + "-" + suffix(f.serial)
	return p
}

// finishedPod returns a finished pod of a CronJob. Its status keeps the address that it
// had.
func (c *cell) finishedPod(f injection) pod {
	p := c.gonePod(f)
	p.finished, p.endpoint = true, false
	p.name = fmt.Sprintf("%s-report-%d-%s", p.app.name, p.created.Unix()/60, suffix(f.serial))
	return p
}

func (c *cell) otherNode() string {
	for {
		if n := nodeName(c.rand.IntN(c.plan.Nodes)); n != c.host.name {
			return n
		}
	}
}

// goneAffinity is what remains of a node that was deleted together with its block.
func (c *cell) goneAffinity(f injection) {
	a := affinity{
		node: fmt.Sprintf("gone-%05d", f.index), uid: uid(c.rand), block: blockCIDR(c.plan.gone[f.index]), created: c.ago(100*24*time.Hour, 200*24*time.Hour),
	}
	c.affinities = append(c.affinities, a)
	c.faults = append(c.faults, Fault{Kind: f.kind, Subject: a.block.String(), Node: a.node, Block: a.block.String()})
}

// breakBlock makes an allocation of the node's last block, which has no others, point
// beyond the attributes.
func (c *cell) breakBlock(f injection) {
	b := c.blocks[len(c.blocks)-1]
	a, nowhere := addressAt(b.prefix.Addr(), b.Unallocated[0]), 7
	b.claim(a, attribute{})
	b.Attributes = b.Attributes[:0]
	b.Allocations[b.ordinal(a)] = &nowhere
	c.faults = append(c.faults, Fault{Kind: f.kind, Subject: b.CIDR, Node: c.host.name, Block: b.CIDR})
}
