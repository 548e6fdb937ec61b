package model

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// maxEndpoints bounds how many members of an etcd are kept of a configuration.
const maxEndpoints = 32

// EtcdEndpoints returns the members of an etcd as HOST:PORT, sorted, so that two configurations
// can be compared. Schemes, credentials and paths are left out, and so is what is no endpoint.
func EtcdEndpoints(all []string) []string {
	var out []string
	for _, text := range all {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" || len(u.Hostname()) > 253 {
			continue
		}
		host, port := strings.ToLower(u.Hostname()), u.Port()
		if ip, err := netip.ParseAddr(host); err == nil {
			host = ip.Unmap().String()
		}
		if port == "" {
			port = "2379"
		}
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		if e := host + ":" + port; len(out) < maxEndpoints && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	slices.Sort(out)
	return out
}
