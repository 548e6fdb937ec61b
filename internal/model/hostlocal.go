package model

import "net/netip"

// A Reserved is a file of the IPAM plugin host-local: an address that it has given to a sandbox.
type Reserved struct {
	Node      string     `json:"-"`
	Network   string     `json:"network"`
	IP        netip.Addr `json:"ip"`
	Sandbox   string     `json:"sandbox,omitempty"`
	Interface string     `json:"interface,omitempty"`
	Since     Time       `json:"since,omitzero"`
	Extra     Extra      `json:"-"`
}

// ReservedOn returns the addresses that host-local has given on a node.
func (v *View) ReservedOn(node string) []Reserved {
	v.touched[HostLocal] = true
	return v.stateOf(node).HostLocal
}
