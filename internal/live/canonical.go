package live

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// Canonical gives a subject the one name by which changes wake it: several names may mean
// the same rows.
func Canonical(s model.Subject) model.Subject {
	switch s.Table {
	case model.Handles:
		s.Ref.Name = model.HandleKey(s.Ref.Name)
	case model.Blocks:
		if c, err := netip.ParsePrefix(s.Ref.Name); err == nil {
			s.Ref.Name = c.Masked().String()
		}
	case model.Affinities:
		node, cidr, _ := strings.Cut(s.Ref.Name, "/")
		if c, err := netip.ParsePrefix(cidr); err == nil {
			s.Ref.Name = node + "/" + c.Masked().String()
		}
	case model.Cluster, model.Components:
		s.Ref = model.Ref{Kind: model.KindCluster, Name: "cluster"}
	default:
	}
	return s
}
