package model

import "net/netip"

// The rows below are what one node says of itself. They stand in sections of their own,
// one per table and node: a row learns its node's name when the snapshot is sealed.
// Since is when the node's agent saw the row become what it is, counted back from the
// moment of its answer by a clock that only runs forward; zero if nobody was watching.

// A Link is a network device of the host's namespace.
type Link struct {
	Node   string         `json:"-"`
	Index  int            `json:"index"`
	Name   string         `json:"name"`
	Kind   string         `json:"kind,omitempty"` // veth, netkit, vxlan …; empty for a real card
	MAC    string         `json:"mac,omitempty"`
	Up     bool           `json:"up,omitempty"`
	Peer   int            `json:"peer,omitempty"`   // index of the other end
	PeerNS uint64         `json:"peerNS,omitempty"` // inode of the namespace of the other end; 0 if it could not be found
	IPs    []netip.Prefix `json:"ips,omitempty"`
	Since  Time           `json:"since,omitzero"`
	Extra  Extra          `json:"-"`
}

// Ref names the device.
func (l *Link) Ref() Ref { return Ref{KindLink, l.Node + "/" + l.Name} }

// A Route is an entry of a routing table.
type Route struct {
	Node     string       `json:"-"`
	Dst      netip.Prefix `json:"dst"`
	Gateway  netip.Addr   `json:"gateway,omitzero"`
	Link     int          `json:"link,omitempty"`
	Table    int          `json:"table,omitempty"`
	Protocol int          `json:"protocol,omitempty"`
	Type     string       `json:"type,omitempty"`  // blackhole, unreachable, prohibit, throw, local …; empty for unicast
	Scope    string       `json:"scope,omitempty"` // link, host; empty for global
	Metric   int          `json:"metric,omitempty"`
	Since    Time         `json:"since,omitzero"`
	Extra    Extra        `json:"-"`
}

// A Rule decides which routing table is asked.
type Rule struct {
	Node     string       `json:"-"`
	Priority int          `json:"priority"`
	Table    int          `json:"table,omitempty"`
	Src      netip.Prefix `json:"src,omitzero"`
	Dst      netip.Prefix `json:"dst,omitzero"`
	Mark     uint32       `json:"mark,omitempty"`
	In       string       `json:"in,omitempty"`
	IPv6     bool         `json:"ipv6,omitempty"`
	Since    Time         `json:"since,omitzero"`
	Extra    Extra        `json:"-"`
}

// A Path is what the kernel of the node does with a packet to an address that a pod of
// the node has, or that it has a host route for: the route that it really takes.
type Path struct {
	Node    string     `json:"-"`
	IP      netip.Addr `json:"ip"`
	Link    int        `json:"link,omitempty"`
	Gateway netip.Addr `json:"gateway,omitzero"`
	Table   int        `json:"table,omitempty"`
	Type    string     `json:"type,omitempty"`  // as in Route
	Error   string     `json:"error,omitempty"` // the kernel's answer where there is no way: a blackhole says "invalid argument"
	Since   Time       `json:"since,omitzero"`
	Extra   Extra      `json:"-"`
}

// Ref names the address on the node.
func (p *Path) Ref() Ref { return Ref{KindPath, p.Node + "/" + p.IP.String()} }

// A Neighbour is an entry of a neighbour table.
type Neighbour struct {
	Node  string     `json:"-"`
	IP    netip.Addr `json:"ip"`
	MAC   string     `json:"mac,omitempty"`
	Link  int        `json:"link"`
	State string     `json:"state"` // PERMANENT, REACHABLE, STALE, FAILED …
	Proxy bool       `json:"proxy,omitempty"`
	Since Time       `json:"since,omitzero"`
	Extra Extra      `json:"-"`
}

// An Attachment is one device inside a network namespace that is not the host's; a
// namespace that has none but its loopback is one row without a device.
type Attachment struct {
	Node       string         `json:"-"`
	Sandbox    string         `json:"sandbox,omitempty"` // whose namespace it is, if the runtime knows
	NetNS      string         `json:"netns"`             // a path by which it can be reached from the host
	Inode      uint64         `json:"inode"`             // the namespace
	PIDs       int            `json:"pids,omitempty"`    // how many processes live in it
	Pinned     bool           `json:"pinned,omitempty"`  // a file keeps it
	Device     string         `json:"device,omitempty"`
	Index      int            `json:"index,omitempty"`
	Peer       int            `json:"peer,omitempty"`   // index of the other end
	PeerNS     uint64         `json:"peerNS,omitempty"` // inode of the other end's namespace; 0 if it could not be found
	MAC        string         `json:"mac,omitempty"`
	Up         bool           `json:"up,omitempty"`
	IPs        []netip.Prefix `json:"ips,omitempty"` // without link-local ones
	Routes     []Route        `json:"routes,omitempty"`
	Neighbours []Neighbour    `json:"near,omitempty"` // its neighbour table: the gateway above all
	Since      Time           `json:"since,omitzero"`
	Extra      Extra          `json:"-"`
}

// Ref names the device inside.
func (a *Attachment) Ref() Ref {
	of := a.Sandbox
	if of == "" {
		of = a.NetNS
	}
	return Ref{KindAttachment, a.Node + "/" + of}
}

// Has tells that the device inside has the address.
func (a *Attachment) Has(ip netip.Addr) bool {
	for _, p := range a.IPs {
		if p.Addr() == ip {
			return true
		}
	}
	return false
}

// A Sysctl is a setting of one device.
type Sysctl struct {
	Node   string `json:"-"`
	Device string `json:"device"`
	Key    string `json:"key"` // proxy_arp, forwarding, rp_filter, proxy_ndp, route_localnet
	IPv6   bool   `json:"ipv6,omitempty"`
	Value  string `json:"value"`
	Since  Time   `json:"since,omitzero"`
	Extra  Extra  `json:"-"`
}
