package planner

import (
	"cmp"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/proven"
)

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
	switch {
	case len(b.o.MassChanges) > 0 && !b.o.AllowMassChange:
		return gate{&repair.Refusal{Why: b.o.MassChanges[0], Advice: "if you know why, pass --allow-mass-change"}, true}
	case !b.view.Agents():
		return gate{&repair.Refusal{Why: "no agents are installed, so live verification is not possible", Advice: "kubectl apply -f deploy/agent.yaml, see docs/agent.md"}, true}
	case b.o.IPAM != "calico":
		return gate{&repair.Refusal{Why: "the cluster is not known to use Calico IPAM", Advice: "Plumbline repairs only Calico IPAM"}, false}
	case RefusedDatastore(b.view) != nil:
		return gate{RefusedDatastore(b.view), false}
	case b.version != nil:
		return gate{b.version, false}
	case !info.Ready:
		return gate{&repair.Refusal{Why: "the Calico datastore is locked, or not ready (PL9003)", Advice: "if no migration is running, run calicoctl datastore migrate unlock"}, false}
	default:
		return gate{}
	}
}

// judgeVersion is why no Calico object is repaired because of Calico's version; else what there is
// to say of it. Accepted is the version that the user accepts although it is not tested.
func judgeVersion(v *model.View, schemas proven.Schemas, accepted string) (*repair.Refusal, proven.Verdict) {
	info := v.Info()
	if info.Enterprise != "" {
		return &repair.Refusal{Why: "the cluster has Calico Enterprise", Advice: "repair is tested with open-source Calico only"}, proven.Verdict{}
	}
	c := proven.Cluster{Calico: info.Calico, Datastore: info.Datastore, Group: info.Group, Schemas: schemas, Accepted: accepted}
	verdict := c.Judge()
	if verdict.Refused != "" {
		return &repair.Refusal{Why: verdict.Refused, Advice: verdict.Advice}, verdict
	}
	if why := cmp.Or(MixedComponent(v.Snapshot().Components, info.Calico), mixedPlugin(v)); why != "" {
		return &repair.Refusal{Why: why, Advice: "repair needs one version of Calico, known for each of its components"}, verdict
	}
	return nil, verdict
}

// RefusedVersion is why a plan is not applied because of Calico's version; nil: it may be.
func RefusedVersion(v *model.View, schemas proven.Schemas, p *repair.Plan) *repair.Refusal {
	accepted := ""
	if p.Accepted != nil {
		accepted = p.Accepted.Version
	}
	if no, _ := judgeVersion(v, schemas, accepted); no != nil {
		return no
	}
	if now := v.Info().Calico; p.Calico != "" && p.Calico != now && !proven.SameMinor(p.Calico, now) {
		return &repair.Refusal{Why: "the plan was made with Calico " + p.Calico + ", and this is " + now, Advice: "plan again: what Calico writes differs between them"}
	}
	return nil
}

// MixedComponent names a component whose version is not the cluster's, not known, or not the same
// in all its pods; empty if there is none. The operator's Installation has no version.
func MixedComponent(all []model.Component, cluster string) string {
	for i := range all {
		c := &all[i]
		mixed := proven.Mixed(cluster, c.Name, c.Version)
		switch {
		case c.Settings["variant"] != "" && c.Settings["variant"] != "Calico":
			return "the cluster has Calico Enterprise"
		case c.Name == "installation":
		case c.Wanted == 0 && c.Ready == 0 && c.Old == 0 && c.Version != "": // scaled to zero: it writes nothing
		case mixed != "":
			return mixed
		case c.Old > 0:
			return fmt.Sprintf("%s is being rolled out: %d of its pods are not of the present version, or not known to be", c.Name, c.Old)
		}
	}
	return ""
}

// mixedPlugin names a node whose CNI plugin is of another minor version than the cluster; empty if
// none is known to be.
func mixedPlugin(v *model.View) string {
	cluster := v.Info().Calico
	for i := range int32(v.Rows(model.Nodes)) {
		node := v.Node(i).Name
		m := v.MachineOf(node)
		if m == nil || m.Plugin == "" || v.CNISetupOn(node).Calicos == nil {
			continue // no agent, or no runtime calls it
		}
		if m.Plugin != cluster && !proven.SameMinor(m.Plugin, cluster) {
			return fmt.Sprintf("the CNI plugin on %s is %s, and ClusterInformation has %s: Calico is being upgraded, or was only in part", node, m.Plugin, cluster)
		}
	}
	return ""
}

// judgeVersion judges Calico's version, and notes in the plan what the user must know of it and
// what was accepted.
func (b *builder) judgeVersion(p *repair.Plan) {
	version, accepted := b.view.Info().Calico, ""
	if b.o.AcceptVersion != "" {
		accepted = version
	}
	var verdict proven.Verdict
	if b.version, verdict = judgeVersion(b.view, b.o.Schemas, accepted); b.version != nil || verdict.Know == "" {
		return
	}
	p.Warnings = append(p.Warnings, verdict.Know)
	if verdict.Accepted {
		p.Accepted = &repair.Accepted{Version: version, Reason: b.o.AcceptVersion}
	}
}
