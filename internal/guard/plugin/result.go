package plugin

import (
	"encoding/json"
	"net/netip"
)

// A result is the part of a CNI result that the guard uses, of any version since 0.3.0.
type result struct {
	IPs []struct {
		Address   string `json:"address"`
		Interface *int   `json:"interface"`
		Gateway   string `json:"gateway"`
	} `json:"ips"`
	Interfaces []struct {
		Name    string `json:"name"`
		Sandbox string `json:"sandbox"`
	} `json:"interfaces"`
	Routes []struct {
		Dst string `json:"dst"`
	} `json:"routes"`
}

func parseResult(b []byte) (*result, error) {
	var r result
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// addresses returns the addresses of the container, without those of host interfaces.
func (r *result) addresses() []netip.Prefix {
	var out []netip.Prefix
	for _, ip := range r.IPs {
		p, err := netip.ParsePrefix(ip.Address)
		if i := ip.Interface; err != nil || i != nil && *i >= 0 && *i < len(r.Interfaces) && r.Interfaces[*i].Sandbox == "" {
			continue
		}
		out = append(out, p)
	}
	return out
}

// device returns the host interface: the last interface without a sandbox, because a bridge
// is listed before the veth that is attached to it.
func (r *result) device() string {
	name := ""
	for _, d := range r.Interfaces {
		if d.Sandbox == "" {
			name = d.Name
		}
	}
	return name
}

// leads reports whether the result has a default route of a family.
func (r *result) leads(is4 bool) bool {
	for _, route := range r.Routes {
		if p, err := netip.ParsePrefix(route.Dst); err == nil && p.Bits() == 0 && p.Addr().Is4() == is4 {
			return true
		}
	}
	return false
}
