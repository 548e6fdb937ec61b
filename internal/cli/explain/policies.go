package explain

import (
	"context"
	"strings"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// policyLine says which policies may keep packets from a pod: nobody evaluates them here.
func policyLine(ctx context.Context, u *cluster.Scoped, ns, name string) string {
	p, err := u.Policies(ctx, ns, name)
	switch {
	case err != nil:
		return "not read: " + plain.Line(err.Error())
	case len(p.Select)+len(p.Calico) == 0 && u.Etcd():
		return "no NetworkPolicy selects it; Calico's own, in etcd, and AdminNetworkPolicies are not read"
	case len(p.Select)+len(p.Calico) == 0:
		return "no NetworkPolicy selects it, and Calico has none that may; AdminNetworkPolicies are not read"
	}
	var says []string
	if len(p.Select) > 0 {
		says = append(says, "selected by NetworkPolicy "+plain.Line(plain.FewOf(p.Select)))
	}
	if len(p.Calico) > 0 {
		says = append(says, "Calico also has "+plain.Line(plain.FewOf(p.Calico))+" there or for all namespaces")
	}
	return strings.Join(says, "; ") + " (what they allow is not evaluated)"
}
