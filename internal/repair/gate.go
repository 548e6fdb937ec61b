package repair

import (
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
)

// proven are the versions of Calico whose writes were compared with ours on the lab. On
// another we only read.
var proven = []string{"v3.31.0"}

// A gate is why nothing of Calico's, or nothing at all, is repaired on a cluster.
type gate struct {
	why, advice string // for what is Calico's
	all         bool   // and for everything else
}

// stops tells why findings of that code are not repaired here; empty if they are.
func (g gate) stops(c finding.Code) (why, advice string) {
	if !g.all && strings.HasPrefix(string(c), "PL4") {
		return "", "" // processes and mounts are none of Calico's
	}
	return g.why, g.advice
}

// gates looks at what is true of the whole cluster.
func (b *builder) gates() gate {
	info := b.view.Info()
	switch version := b.unproven(); {
	case len(b.o.MassChanges) > 0 && !b.o.AllowMassChange:
		return gate{b.o.MassChanges[0], "if that is so, say --mass", true}
	case !b.view.Agents():
		return gate{"the nodes cannot be asked: install the agents", "kubectl apply -f deploy/agent.yaml, see docs/agent.md", true}
	case b.o.IPAM != "calico":
		return gate{"it is not known that addresses are Calico's to give", "only Calico's own IPAM is repaired", false}
	case version != "":
		return gate{version, "repair is proven for Calico " + strings.Join(proven, ", ") + " only; on others we read", false}
	case !info.Ready:
		return gate{"the datastore is locked, or not ready (PL9003)", "calicoctl datastore migrate unlock, when nobody migrates", false}
	default:
		return gate{}
	}
}

// unproven names the part of Calico whose version was not proven: in a rolling upgrade
// the old and the new both write.
func (b *builder) unproven() string {
	if v := b.view.Info().Calico; !slices.Contains(proven, v) {
		if v == "" {
			return "the version of Calico is not known"
		}
		return "Calico is " + v
	}
	for i := range int32(len(b.view.Snapshot().Components)) {
		c := b.view.Component(i)
		if c.Version != "" && !slices.Contains(proven, c.Version) {
			return c.Name + " is " + c.Version
		}
	}
	return ""
}
