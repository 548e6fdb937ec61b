package object

import (
	"crypto/sha3"
	"encoding/base32"
	"net/netip"
)

// IPAMLabels are those by which IPAM finds a node's affinities since 3.31: a digest of the
// node's name, the kind of affinity, the version of IP.
var IPAMLabels = []string{"projectcalico.org/hostname-hash", "projectcalico.org/affinity-type", "projectcalico.org/ip-version"}

// AffinityLabels are those by which IPAM since 3.31 finds a node's affinities: one without
// them does not exist for it.
func AffinityLabels(node string, cidr netip.Prefix) map[string]string {
	family := "6"
	if cidr.Addr().Is4() {
		family = "4"
	}
	// A node's name can be longer than a label may be.
	sum := sha3.Sum256([]byte(node))
	return map[string]string{
		IPAMLabels[0]: base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]),
		IPAMLabels[1]: "host",
		IPAMLabels[2]: family,
	}
}
