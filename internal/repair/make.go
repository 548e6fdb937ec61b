package repair

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Options are what a person, and the one who looked, say about a plan.
type Options struct {
	ID      string
	Made    model.Time // by the API server's clock
	Version string     // of Plumbline

	Rebuild bool           // make the blocks say what lives
	Blocks  []netip.Prefix // of a rebuild: only these; none means all

	IPAM            string        // who hands out addresses, as detect recognised it
	MassChanges     []string      // headlines of the breaker
	AllowMassChange bool          // a person says that so much at once is right
	Settle          time.Duration // what a person says is long enough for a difference to last; 0: the usual
	NodeGone        []string      // nodes of which a person says that they will not come back

	// What an endpoint in etcd is made from is read live: labels, ports, and how Calico's
	// plugin writes another's. Nil where only a snapshot is there.
	PodJSON, EndpointJSON func(namespace, name string) (json.RawMessage, error)
}

// Make plans the repair of findings. It is pure: the same view and findings give the same
// plan. What it does not plan it refuses, and says why and what a person can do. Findings
// that others explain may be among them; those that are not can only be looked at again.
func Make(v *model.View, fs []finding.Finding, o Options) *Plan {
	b := &builder{view: v, o: o, planned: map[string]bool{}, unconfirmed: map[string]bool{}, at: map[place]*draft{}, repaired: map[string]bool{}}
	p := &Plan{Schema: Schema, ID: o.ID, Cluster: v.Info().GUID, Rebuild: o.Rebuild, Made: o.Made, Version: o.Version}
	p.KubeRevision, p.EtcdRevision = Revisions(v)
	fs = slices.Clone(fs)
	if o.Rebuild {
		fs = b.rebuild(fs)
	}
	finding.Sort(fs)
	// Whether an endpoint goes is known before it is asked whether its address may.
	slices.SortStableFunc(fs, func(x, y finding.Finding) int { return cmp.Compare(later(x.Code), later(y.Code)) })
	b.plan(fs)
	b.explained(fs)
	b.finish(p)
	return p
}

func later(c finding.Code) int {
	if c == "PL1001" {
		return 1
	}
	return 0
}

// plan gives every finding to its action. Only what is confirmed is repaired.
func (b *builder) plan(fs []finding.Finding) {
	for i := range fs {
		b.planned[fs[i].Key()] = fs[i].State == finding.Confirmed
		b.unconfirmed[fs[i].Key()] = fs[i].State != finding.Confirmed
	}
	table, gate := actions(), b.gates()
	cured := curedBy(fs)
	for i := range fs {
		f := &fs[i]
		act := table[f.Code]
		switch why, what := gate.stops(f.Code); {
		case cured[f.Key()]:
		case act == nil:
			b.refuse(f, "there is no safe repair of it", advice(f.Code))
		case why != "":
			b.refuse(f, why, what)
		case f.State != finding.Confirmed:
			b.refuse(f, unconfirmedReason(f), "plan again then")
		default:
			act(b, f)
		}
	}
}

// curedBy are the findings that go with one that explains them.
func curedBy(fs []finding.Finding) map[string]bool {
	out := map[string]bool{}
	for i := range fs {
		for _, key := range fs[i].Explains {
			code, _, _ := strings.Cut(key, "/")
			if fs[i].State == finding.Confirmed && cures(fs[i].Code, finding.Code(code)) {
				out[key] = true
			}
		}
	}
	return out
}

// explained leaves alone what others explain and nobody handed in: whether it was confirmed
// is not known, and most of it goes with its cause.
func (b *builder) explained(fs []finding.Finding) {
	for i := range fs {
		for _, key := range fs[i].Explains {
			code, subject, _ := strings.Cut(key, "/")
			_, given := b.planned[key]
			if given || cures(fs[i].Code, finding.Code(code)) {
				continue
			}
			f := finding.Finding{Code: finding.Code(code), Subject: model.Ref{Name: subject}}
			b.refuse(&f, "it is explained by "+fs[i].Key()+" and was not judged by itself", "repair that, then look again")
		}
	}
}

// cures tells that the repair of one kind of finding takes the other with it, if it is
// about the same thing.
func cures(cause, effect finding.Code) bool {
	return slices.Contains(map[finding.Code][]finding.Code{
		"PL2001": {"PL1002", "PL2003", "PL2004", "PL3003", "PL3005"}, // rescue records first, and Felix follows
		"PL2010": {"PL1001", "PL1002", "PL1003", "PL2003", "PL2004", "PL3003", "PL3004", "PL3005", "PL3006"},
		"PL1003": {"PL5002"},
		"PL1007": {"PL5004"}, // it goes, or gets its labels with the rest
		"PL4004": {"PL4002"},
		"PL4002": {"PL4003"},
	}[cause], effect)
}

// unconfirmedReason says when a suspicion will be one no more.
func unconfirmedReason(f *finding.Finding) string {
	why := "it is only suspected"
	if f.Why != "" {
		why += ": " + f.Why
	}
	if !f.RecheckAfter.IsZero() {
		why += "; it is decided at " + f.RecheckAfter.String()
	}
	return why
}
