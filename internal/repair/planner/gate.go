package planner

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// proven are the Calico versions with which repairs were tested in the lab, write by write.
// On other versions Plumbline only reads.
var proven = []string{"v3.31.0"}

// A gate is why no Calico object, or nothing at all, is repaired on a cluster.
type gate struct {
	no  *repair.Refusal // for all codes except PL4xxx; nil: repairs are allowed
	all bool            // for PL4xxx too
}

// stops gives why findings of that code are not repaired; nil if they are.
func (g gate) stops(c finding.Code) *repair.Refusal {
	if !g.all && strings.HasPrefix(string(c), "PL4") {
		return nil // processes and mounts do not belong to Calico
	}
	return g.no
}

// gates checks the conditions that hold for the whole cluster.
func (b *builder) gates() gate {
	info := b.view.Info()
	switch version := b.unproven(); {
	case len(b.o.MassChanges) > 0 && !b.o.AllowMassChange:
		return gate{&repair.Refusal{Why: b.o.MassChanges[0], Advice: "if you know why, pass --allow-mass-change"}, true}
	case !b.view.Agents():
		return gate{&repair.Refusal{Why: "no agents are installed, so live verification is not possible", Advice: "kubectl apply -f deploy/agent.yaml, see docs/agent.md"}, true}
	case b.o.IPAM != "calico":
		return gate{&repair.Refusal{Why: "the cluster is not known to use Calico IPAM", Advice: "Plumbline repairs only Calico IPAM"}, false}
	case version != "":
		return gate{&repair.Refusal{Why: version, Advice: "repair is tested with Calico " + strings.Join(proven, ", ") + " only; with other versions Plumbline only reads"}, false}
	case !info.Ready:
		return gate{&repair.Refusal{Why: "the Calico datastore is locked, or not ready (PL9003)", Advice: "if no migration is running, run calicoctl datastore migrate unlock"}, false}
	default:
		return gate{}
	}
}

// unproven names a Calico component whose version is not tested; empty if all are. During a
// rolling upgrade the old and the new version both write.
func (b *builder) unproven() string {
	if b.view.Info().Enterprise != "" {
		return "the cluster has Calico Enterprise"
	}
	if v := b.view.Info().Calico; !slices.Contains(proven, v) {
		if v == "" {
			return "the Calico version is not known"
		}
		return "Calico is " + v
	}
	return UnprovenComponent(b.view.Snapshot().Components)
}

// UnprovenComponent names a component whose version is not tested, not known, or not the same in
// all its pods; empty if there is none. The operator's Installation has no version.
func UnprovenComponent(all []model.Component) string {
	for i := range all {
		c := &all[i]
		switch {
		case c.Settings["variant"] != "" && c.Settings["variant"] != "Calico":
			return "the cluster has Calico Enterprise"
		case c.Name == "installation":
		case c.Version == "":
			return "the version of " + c.Name + " is not known: its image has no tag"
		case !slices.Contains(proven, c.Version):
			return c.Name + " is " + c.Version
		case c.Old > 0:
			return fmt.Sprintf("%s is being rolled out: %d of its pods are not of the present version, or not known to be", c.Name, c.Old)
		}
	}
	return ""
}

// Unproven names a Calico component whose version is not tested for repairs; empty if all are.
func Unproven(v *model.View) string { return (&builder{view: v}).unproven() }
