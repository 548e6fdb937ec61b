package change

// tunnelTypes are what calico-node writes for tunnel addresses, by the first word of the handle.
var tunnelTypes = map[string]string{
	"ipip": "ipipTunnelAddress", "vxlan": "vxlanTunnelAddress", "vxlan-v6": "vxlanV6TunnelAddress",
	"wireguard": "wireguardTunnelAddress", "wireguard-v6": "wireguardV6TunnelAddress",
}

// TunnelOwner gives the attribute that calico-node writes for a tunnel address; nil if the type is
// not known. calico-node writes no timestamp.
func TunnelOwner(kind, node string) *Owner {
	if tunnelTypes[kind] == "" {
		return nil
	}
	return &Owner{Handle: kind + "-tunnel-addr-" + node, Secondary: map[string]string{"node": node, "type": tunnelTypes[kind]}}
}

// tunnel reports that the owner is a tunnel of a node, as calico-node would write it.
func (o *Owner) tunnel() bool {
	if o == nil || o.Secondary["node"] == "" {
		return false
	}
	for kind, is := range tunnelTypes {
		if o.Secondary["type"] == is {
			return o.Handle == kind+"-tunnel-addr-"+o.Secondary["node"]
		}
	}
	return false
}
