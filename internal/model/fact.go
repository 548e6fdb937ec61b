package model

import "net/netip"

// The rows below are what one node says of itself. Its name is not in them: they
// stand in sections of their own, one per table and node.

// A Link is a network device of the host's namespace.
type Link struct {
	Index     int    `json:"index"`
	Name      string `json:"name"`
	Kind      string `json:"kind,omitempty"`
	MAC       string `json:"mac,omitempty"`
	Up        bool   `json:"up,omitempty"`
	Peer      int    `json:"peer,omitempty"`      // index of the other end of a veth
	PeerNetNS int    `json:"peerNetNS,omitempty"` // the kernel's number for the namespace of the other end
	Extra     Extra  `json:"-"`
}

// A Route is an entry of the host's routing tables.
type Route struct {
	Dst      netip.Prefix `json:"dst"`
	Gateway  netip.Addr   `json:"gateway,omitzero"`
	Link     int          `json:"link,omitempty"`
	Table    int          `json:"table,omitempty"`
	Protocol int          `json:"protocol,omitempty"`
	Type     int          `json:"type,omitempty"`
	Extra    Extra        `json:"-"`
}

// A Neighbour is an entry of the host's neighbour table.
type Neighbour struct {
	IP    netip.Addr `json:"ip"`
	MAC   string     `json:"mac,omitempty"`
	Link  int        `json:"link"`
	State string     `json:"state"`
	Proxy bool       `json:"proxy,omitempty"`
	Extra Extra      `json:"-"`
}

// A Sandbox is a pod sandbox as the container runtime has it.
type Sandbox struct {
	ID        string `json:"id"`
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	UID       string `json:"uid"`
	Attempt   uint32 `json:"attempt,omitempty"`
	Ready     bool   `json:"ready,omitempty"`
	NetNS     string `json:"netns,omitempty"`
	Created   Time   `json:"created,omitzero"`
	Extra     Extra  `json:"-"`
}

// An Attachment is what is inside one network namespace of a pod.
type Attachment struct {
	Sandbox string         `json:"sandbox,omitempty"`
	NetNS   string         `json:"netns"`
	Device  string         `json:"device"`
	Peer    int            `json:"peer,omitempty"` // index of the host's end
	MAC     string         `json:"mac,omitempty"`
	IPs     []netip.Prefix `json:"ips,omitempty"`
	Routes  []Route        `json:"routes,omitempty"`
	Gateway []Neighbour    `json:"gateway,omitempty"`
	Extra   Extra          `json:"-"`
}

// A Sysctl is a setting of one device.
type Sysctl struct {
	Device string `json:"device"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	Extra  Extra  `json:"-"`
}

// A CNIConfig is a network configuration that the runtime may load, without secrets.
type CNIConfig struct {
	File     string   `json:"file"`
	Network  string   `json:"network"`
	Loaded   bool     `json:"loaded,omitempty"`
	Plugins  []string `json:"plugins,omitempty"`
	NodeName string   `json:"nodeName,omitempty"`
	IPAM     string   `json:"ipam,omitempty"`
	Extra    Extra    `json:"-"`
}

// A CNIResult is libcni's record of an attachment.
type CNIResult struct {
	Network   string         `json:"network"`
	Container string         `json:"container"`
	Interface string         `json:"interface"`
	IPs       []netip.Prefix `json:"ips,omitempty"`
	Extra     Extra          `json:"-"`
}

// A Process is one that matters: a zombie, one that cannot be killed, a CNI call.
type Process struct {
	PID       int    `json:"pid"`
	Name      string `json:"name"`
	State     string `json:"state"`
	Waits     string `json:"waits,omitempty"` // the kernel function that it waits in
	Container string `json:"container,omitempty"`
	Command   string `json:"command,omitempty"` // CNI_COMMAND
	Extra     Extra  `json:"-"`
}

// A Mount is one that a pod uses and that can hang.
type Mount struct {
	Target string   `json:"target"`
	Type   string   `json:"type"`
	Source string   `json:"source"`
	Silent bool     `json:"silent,omitempty"`
	Since  Time     `json:"since,omitzero"`
	Pods   []string `json:"pods,omitempty"` // UIDs
	Extra  Extra    `json:"-"`
}

// A Runtime is how the container runtime answers one call.
type Runtime struct {
	Call   string `json:"call"`
	Millis int64  `json:"millis"`
	Error  string `json:"error,omitempty"`
	Extra  Extra  `json:"-"`
}
