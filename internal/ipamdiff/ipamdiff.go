// Package ipamdiff compares the IPAM records of two times: which address had which owner, and has which
// now. It is pure.
package ipamdiff

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// A What is how an address or a block differs.
type What string

// How they differ. Of an address that has the same owner by name, but for another sandbox, the pod was
// made anew.
const (
	Gained  What = "gained"  // it was free, or its block was not there
	Lost    What = "lost"    // it is free, or its block is not there
	Moved   What = "moved"   // it has another owner
	Renewed What = "renewed" // the same owner by name, with another handle
)

// An Owner is whom an address is allocated to.
type Owner struct {
	Name   string `json:"name,omitempty"`   // NAMESPACE/POD, or what else it is; empty: free
	Node   string `json:"node,omitempty"`   // of the pod
	Handle string `json:"handle,omitempty"` // Calico's ID of the owner
}

// An Address is one that differs.
type Address struct {
	IP   netip.Addr `json:"ip"` // the address
	What What       `json:"what"`
	Was  Owner      `json:"was"`
	Is   Owner      `json:"is"`
}

// A Block is one that differs in whose it is.
type Block struct {
	CIDR netip.Prefix `json:"cidr"` // the block
	What What         `json:"what"`
	Was  string       `json:"was,omitempty"` // node
	Is   string       `json:"is,omitempty"`  // node, now
}

// A Diff is what differs, in the order of addresses, and what could not be compared.
type Diff struct {
	Addresses []Address `json:"addresses"`
	Blocks    []Block   `json:"blocks"`
	Same      int       `json:"same"`              // addresses with the same owner
	NotRead   []string  `json:"notRead,omitempty"` // tables that were not read completely, then or now
}

// needed are the tables without which nothing can be said.
var needed = []model.Table{model.Blocks}

// Compare compares two views of one cluster, the older first.
func Compare(was, is *model.View) Diff {
	var d Diff
	for _, t := range needed {
		for when, v := range map[string]*model.View{"then": was, "now": is} {
			if !v.State(t, "").Seen() {
				d.NotRead = append(d.NotRead, t.String()+" were not read completely "+when)
			}
		}
	}
	slices.Sort(d.NotRead)
	if len(d.NotRead) > 0 {
		return d
	}
	d.addresses(owners(was), owners(is))
	d.blocks(nodes(was), nodes(is))
	return d
}

func (d *Diff) addresses(was, is map[netip.Addr]Owner) {
	for ip, before := range was {
		now, held := is[ip]
		switch {
		case !held:
			d.Addresses = append(d.Addresses, Address{ip, Lost, before, Owner{}})
		case now == before:
			d.Same++
		case now.Name == before.Name && now.Node == before.Node:
			d.Addresses = append(d.Addresses, Address{ip, Renewed, before, now})
		default:
			d.Addresses = append(d.Addresses, Address{ip, Moved, before, now})
		}
	}
	for ip, now := range is {
		if _, held := was[ip]; !held {
			d.Addresses = append(d.Addresses, Address{ip, Gained, Owner{}, now})
		}
	}
	slices.SortFunc(d.Addresses, func(a, b Address) int { return a.IP.Compare(b.IP) })
}

func (d *Diff) blocks(was, is map[netip.Prefix]string) {
	for cidr, before := range was {
		if now, there := is[cidr]; !there {
			d.Blocks = append(d.Blocks, Block{cidr, Lost, before, ""})
		} else if now != before {
			d.Blocks = append(d.Blocks, Block{cidr, Moved, before, now})
		}
	}
	for cidr, now := range is {
		if _, there := was[cidr]; !there {
			d.Blocks = append(d.Blocks, Block{cidr, Gained, "", now})
		}
	}
	slices.SortFunc(d.Blocks, func(a, b Block) int { return a.CIDR.Compare(b.CIDR) })
}

// Count tells how many addresses differ in a way.
func (d *Diff) Count(w What) (n int) {
	for i := range d.Addresses {
		if d.Addresses[i].What == w {
			n++
		}
	}
	return n
}

func nodes(v *model.View) map[netip.Prefix]string {
	out := map[netip.Prefix]string{}
	for i := range int32(v.Rows(model.Blocks)) {
		if b := v.Block(i); !b.Deleted {
			out[b.CIDR] = b.Node()
		}
	}
	return out
}

// owners are those of all allocated addresses. Of two allocations of one address, in blocks that overlap,
// the first counts.
func owners(v *model.View) map[netip.Addr]Owner {
	out := map[netip.Addr]Owner{}
	for i := range int32(v.Rows(model.Allocations)) {
		a := v.Allocation(i)
		if _, twice := out[a.IP]; !twice {
			out[a.IP] = ownerOf(v.AttributeOf(a))
		}
	}
	return out
}

func ownerOf(at *model.Attribute) Owner {
	switch {
	case at == nil:
		return Owner{Name: "unreadable"}
	case at.Pod != "":
		return Owner{at.Namespace + "/" + at.Pod, at.Node, at.Handle}
	case at.Tunnel():
		return Owner{"the tunnel address", at.Node, at.Handle}
	case at.Service != "":
		return Owner{"service " + at.Namespace + "/" + at.Service, at.Node, at.Handle}
	case at.VM != "":
		return Owner{"virtual machine " + at.Namespace + "/" + at.VM, at.Node, at.Handle}
	case at.Handle != "":
		return Owner{"handle " + at.Handle, at.Node, at.Handle}
	default:
		return Owner{Name: "nobody who is named", Node: at.Node}
	}
}
