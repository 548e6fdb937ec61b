// Package planner makes plans of findings: one file per code that Plumbline can repair, and one
// table of them. It is pure: the same view, findings and options give the same plan.
package planner

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/proven"
)

// Options are the choices of the user and the facts of the check that a plan depends on.
type Options struct {
	ID      string
	Made    model.Time // by the API server's clock
	Version string     // of Plumbline

	Rebuild bool           // rebuild IPAM blocks from running pods
	Blocks  []netip.Prefix // of a rebuild: only blocks within these; empty means all

	IPAM            string        // the IPAM plugin, as detected
	MassChanges     []string      // why the mass-change limit was reached; empty: it was not
	AllowMassChange bool          // the user passed --allow-mass-change
	Settle          time.Duration // minimum duration of a difference (--settle); 0: the default of each code
	NodeGone        []string      // nodes that are permanently removed (--node-gone)
	AcceptVersion   string        // why the user accepts a version of Calico that is not tested (--accept-version)

	Schemas proven.Schemas // of Calico's CRDs

	// PodJSON and EndpointJSON read live objects: an endpoint in etcd is built from the pod's
	// labels and ports, and compared with another endpoint. Nil when planning from a snapshot.
	PodJSON, EndpointJSON func(namespace, name string) (json.RawMessage, error)
}

// Make plans the repair of findings. It is pure: the same view, findings and options give
// the same plan. Every finding becomes a target or a refusal with a reason and advice,
// unless the repair of a finding that explains it repairs it too. fs may contain findings
// that others explain; explained findings that are not in fs are refused.
func Make(v *model.View, fs []finding.Finding, o Options) *repair.Plan {
	b := &builder{view: v, o: o, planned: map[string]bool{}, unconfirmed: map[string]bool{}, at: map[place]*draft{}, repaired: map[string]bool{}}
	p := &repair.Plan{Schema: repair.Schema, ID: o.ID, Cluster: v.Info().GUID, Rebuild: o.Rebuild, MassChange: o.AllowMassChange, Made: o.Made, Version: o.Version, Calico: v.Info().Calico}
	p.KubeRevision, p.EtcdRevision = repair.Revisions(v)
	b.judgeVersion(p)
	fs = slices.Clone(fs)
	if o.Rebuild {
		fs = b.rebuild(fs)
	}
	finding.Sort(fs)
	// PL1001 last: whether an address may be released depends on whether its endpoint is deleted.
	slices.SortStableFunc(fs, func(x, y finding.Finding) int { return cmp.Compare(later(x.Code), later(y.Code)) })
	b.plan(fs)
	b.explained(fs)
	b.finish(p)
	return p
}

func later(c finding.Code) int {
	if c == finding.PL1001 {
		return 1
	}
	return 0
}

// plan runs the planner of every finding. Only confirmed findings are repaired.
func (b *builder) plan(fs []finding.Finding) {
	for i := range fs {
		b.planned[fs[i].Key()] = fs[i].State == finding.Confirmed
		b.unconfirmed[fs[i].Key()] = fs[i].State != finding.Confirmed
	}
	table, gate := planners(), b.gates()
	curedToo := curedBy(fs)
	for i := range fs {
		f := &fs[i]
		act := table[f.Code]
		no := gate.stops(f.Code)
		switch {
		case curedToo[f.Key()]:
			continue
		case act == nil:
			no = &repair.Refusal{Why: "Plumbline has no safe repair for it", Advice: advice(f.Code)}
		case no != nil:
		case f.State != finding.Confirmed:
			no = &repair.Refusal{Why: unconfirmedReason(f), Advice: "plan again then"}
		default:
			no = act(b, f)
		}
		if no != nil {
			b.refuse(f.Key(), no)
		}
	}
}

// curedBy gives the findings that the repair of a confirmed finding repairs too.
func curedBy(fs []finding.Finding) map[string]bool {
	out := map[string]bool{}
	for i := range fs {
		for _, key := range fs[i].Explains {
			k, _ := finding.ParseKey(key)
			if fs[i].State == finding.Confirmed && cures(fs[i].Code, k.Code) {
				out[key] = true
			}
		}
	}
	return out
}

// explained refuses findings that others explain and that are not in fs: it is not known
// whether they are confirmed, and most of them disappear with their cause.
func (b *builder) explained(fs []finding.Finding) {
	for i := range fs {
		for _, key := range fs[i].Explains {
			k, _ := finding.ParseKey(key)
			_, given := b.planned[key]
			if given || cures(fs[i].Code, k.Code) {
				continue
			}
			b.refuse(finding.KeyOf(k.Code, k.Name), &repair.Refusal{Why: "it is explained by " + fs[i].Key() + " and was not confirmed separately", Advice: "repair " + fs[i].Key() + ", then run plumbline check again"})
		}
	}
}

// cures reports that the repair of a finding of code cause also repairs an explained
// finding of code effect.
func cures(cause, effect finding.Code) bool {
	return slices.Contains(map[finding.Code][]finding.Code{
		finding.PL2001: {finding.PL1002, finding.PL2003, finding.PL2004, finding.PL3003, finding.PL3005}, // the repair records the addresses first, then Felix sets the routes
		finding.PL2010: {finding.PL1001, finding.PL1002, finding.PL1003, finding.PL2003, finding.PL2004, finding.PL3003, finding.PL3004, finding.PL3005, finding.PL3006},
		finding.PL1003: {finding.PL5002},
		finding.PL1007: {finding.PL5004}, // the affinity is deleted, or written with its labels
		finding.PL4004: {finding.PL4002},
		finding.PL4002: {finding.PL4003},
	}[cause], effect)
}

// unconfirmedReason says why a finding is unconfirmed and when to recheck.
func unconfirmedReason(f *finding.Finding) string {
	why := "the finding is unconfirmed"
	if f.Why != "" {
		why += ": " + f.Why
	}
	if !f.RecheckAfter.IsZero() {
		why += "; recheck after " + f.RecheckAfter.String()
	}
	return why
}
