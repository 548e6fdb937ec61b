package model

import "net/netip"

// The rows below are the state of one node, as its agent reports it. They are stored in
// sections per table and node; Seal sets Node. Since is when the agent saw the row become
// what it is, counted back from the time of its answer by a monotonic clock; zero if unknown.

// A Link is a network interface in the host's network namespace.
type Link struct {
	Node   string         `json:"-"`
	Index  int            `json:"index"`
	Name   string         `json:"name"`
	Kind   string         `json:"kind,omitempty"` // veth, netkit, vxlan …; empty for a physical interface
	MAC    string         `json:"mac,omitempty"`
	Up     bool           `json:"up,omitempty"`
	MTU    int            `json:"mtu,omitempty"`    // 0: an older agent
	Peer   int            `json:"peer,omitempty"`   // index of the peer
	PeerNS uint64         `json:"peerNS,omitempty"` // inode of the peer's network namespace; 0 if it could not be found
	IPs    []netip.Prefix `json:"ips,omitempty"`
	Since  Time           `json:"since,omitzero"`
	Extra  Extra          `json:"-"`
}

// Ref names the interface.
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

// A Rule is a routing policy rule: it selects a routing table.
type Rule struct {
	Node     string       `json:"-"`
	Priority int          `json:"priority"`
	Table    int          `json:"table,omitempty"`
	Src      netip.Prefix `json:"src,omitzero"`
	Dst      netip.Prefix `json:"dst,omitzero"`
	Mark     uint32       `json:"mark,omitempty"`
	In       string       `json:"in,omitempty"`
	Type     string       `json:"type,omitempty"`  // blackhole, unreachable, prohibit; empty: it selects a table
	Other    bool         `json:"other,omitempty"` // it has conditions that are not listed here
	IPv6     bool         `json:"ipv6,omitempty"`
	Since    Time         `json:"since,omitzero"`
	Extra    Extra        `json:"-"`
}

// A Path is the route that the node's kernel uses for a packet (`ip route get`) to an address
// that a pod of the node has, or for which it has a host route.
type Path struct {
	Node    string     `json:"-"`
	IP      netip.Addr `json:"ip"`
	Link    int        `json:"link,omitempty"`
	Gateway netip.Addr `json:"gateway,omitzero"`
	Table   int        `json:"table,omitempty"`
	Type    string     `json:"type,omitempty"`  // as in Route
	Error   string     `json:"error,omitempty"` // the kernel's error if it has no route; for a blackhole route "invalid argument"
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
	FDB   string     `json:"fdb,omitempty"`   // on a VXLAN interface: the address to which its forwarding database sends the MAC's packets, or NoFDB
	Asked int64      `json:"asked,omitempty"` // seconds since the kernel last asked for it in vain; 0: it did not, or that is unknown
	Since Time       `json:"since,omitzero"`
	Extra Extra      `json:"-"`
}

// NoFDB is said of a MAC for which the forwarding database of a VXLAN interface has no entry.
const NoFDB = "none"

// An Attachment is an interface in a network namespace other than the host's; a namespace
// that has only its loopback is one row without Device.
type Attachment struct {
	Node       string         `json:"-"`
	Sandbox    string         `json:"sandbox,omitempty"` // of the namespace, if the runtime lists it
	NetNS      string         `json:"netns"`             // a path to it on the host
	Inode      uint64         `json:"inode"`             // of the namespace
	PIDs       int            `json:"pids,omitempty"`    // number of processes in it
	Pinned     bool           `json:"pinned,omitempty"`  // a file keeps it open
	Device     string         `json:"device,omitempty"`
	Index      int            `json:"index,omitempty"`
	Peer       int            `json:"peer,omitempty"`   // index of the peer
	PeerNS     uint64         `json:"peerNS,omitempty"` // inode of the peer's network namespace; 0 if it could not be found
	MAC        string         `json:"mac,omitempty"`
	Up         bool           `json:"up,omitempty"`
	MTU        int            `json:"mtu,omitempty"` // 0: an older agent
	IPs        []netip.Prefix `json:"ips,omitempty"` // without link-local ones
	Routes     []Route        `json:"routes,omitempty"`
	Neighbours []Neighbour    `json:"neighbours,omitempty"` // its neighbour table, mainly the gateway
	Since      Time           `json:"since,omitzero"`
	Extra      Extra          `json:"-"`
}

// Ref names the attachment by its sandbox, or by its namespace.
func (a *Attachment) Ref() Ref {
	of := a.Sandbox
	if of == "" {
		of = a.NetNS
	}
	return Ref{KindAttachment, a.Node + "/" + of}
}

// Has reports whether the interface has the address.
func (a *Attachment) Has(ip netip.Addr) bool {
	for _, p := range a.IPs {
		if p.Addr() == ip {
			return true
		}
	}
	return false
}

// A Sysctl is a sysctl of one interface.
type Sysctl struct {
	Node   string `json:"-"`
	Device string `json:"device"`
	Key    string `json:"key"` // proxy_arp, forwarding, rp_filter, proxy_ndp, route_localnet
	IPv6   bool   `json:"ipv6,omitempty"`
	Value  string `json:"value"`
	Since  Time   `json:"since,omitzero"`
	Extra  Extra  `json:"-"`
}
