// Package objects turns the reports of a followed cluster into the objects that the controller
// keeps: findings counted by code and group, bounded, with what changed between two reports. It is
// pure.
package objects

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// groupOf is what a finding is counted by: the namespace of a pod, the pool of an address, the
// node of what is on one.
func groupOf(v *model.View, f *finding.Finding) v1alpha1.FindingGroup {
	if f.Namespace != "" {
		return v1alpha1.FindingGroup{Kind: "Namespace", Name: Bounded(f.Namespace, v1alpha1.MaxName)}
	}
	if pool := poolOf(v, f.Subject); pool != "" {
		return v1alpha1.FindingGroup{Kind: "Pool", Name: Bounded(pool, v1alpha1.MaxName)}
	}
	if f.Node != "" {
		return v1alpha1.FindingGroup{Kind: "Node", Name: Bounded(f.Node, v1alpha1.MaxName)}
	}
	return v1alpha1.FindingGroup{Kind: "Cluster"}
}

// poolOf is the pool of an address, a block or an affinity; empty for other subjects.
func poolOf(v *model.View, r model.Ref) string {
	name := r.Name
	switch r.Kind {
	case model.KindPool:
		return name
	case model.KindAddress, model.KindBlock:
	case model.KindAffinity: // NODE/PREFIX
		_, name, _ = strings.Cut(name, "/")
	default:
		return ""
	}
	p, err := netip.ParsePrefix(name)
	if err != nil {
		a, err := netip.ParseAddr(name)
		if err != nil {
			return ""
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if pool := v.PoolAround(p); pool != nil {
		return pool.Name
	}
	return ""
}

var objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// nameOf is the name of the object, which a person can guess: pl1001-pool-default-ipv4-ippool. Names
// from etcd may be anything; those that Kubernetes would refuse get a digest instead.
func nameOf(code finding.Code, in v1alpha1.FindingGroup) string {
	name := strings.ToLower(string(code) + "-" + in.Kind)
	if in.Name == "" {
		return name
	}
	if full := name + "-" + in.Name; len(full) <= v1alpha1.MaxName && objectName.MatchString(full) {
		return full
	}
	return fmt.Sprintf("%s-%x", name, sha256.Sum256([]byte(in.Name)))[:len(name)+17]
}
