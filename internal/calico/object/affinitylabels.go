package object

import (
	"crypto/sha3"
	"encoding/base32"
	"net/netip"
)

// IPAMLabels are the labels by which IPAM selects the affinities of a node since 3.31: digest
// of the node name, affinity type, IP version.
var IPAMLabels = []string{"projectcalico.org/hostname-hash", "projectcalico.org/affinity-type", "projectcalico.org/ip-version"}

// AffinityLabels gives the labels of an affinity. IPAM since 3.31 ignores affinities without
// them.
func AffinityLabels(node string, cidr netip.Prefix) map[string]string {
	family := "6"
	if cidr.Addr().Is4() {
		family = "4"
	}
	// A node name can be longer than a label value may be, so it is hashed.
	sum := sha3.Sum256([]byte(node))
	return map[string]string{
		IPAMLabels[0]: base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]),
		IPAMLabels[1]: "host",
		IPAMLabels[2]: family,
	}
}
