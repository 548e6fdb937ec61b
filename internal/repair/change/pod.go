package change

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// ReadPod parses the body that a store returns for a pod.
func ReadPod(o model.Object) (model.PodBody, error) {
	var p model.PodBody
	if !o.There() {
		return p, nil
	}
	if err := json.Unmarshal(o.Body, &p); err != nil {
		return p, fmt.Errorf("%s: %w", o.Ref, err)
	}
	return p, nil
}

// Claims gives those of the addresses that are in the status or annotations of a pod.
func Claims(p *model.PodBody, ips []netip.Addr) []netip.Addr {
	var out []netip.Addr
	for _, ip := range ips {
		text := netip.PrefixFrom(ip, ip.BitLen()).String()
		if slices.Contains(p.IPs, ip) || slices.Contains(strings.Split(p.PodIPs, ","), text) || p.PodIP == text {
			out = append(out, ip)
		}
	}
	return out
}
