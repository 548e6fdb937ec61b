package repair

import (
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// choose gives the findings of a report that are selected, and says why others are not
// although the user named them or their code.
func (s *planSelection) choose(r *audit.Report) (chosen []finding.Finding, missing []repair.Refusal) {
	all := slices.Concat(r.Findings, r.Unconfirmed)
	heads := map[string]string{} // by key of an explained finding: the key of the one that explains it
	there := map[string]bool{}
	for i := range all {
		there[all[i].Key()] = true
		for _, k := range all[i].Explains {
			heads[k] = all[i].Key()
		}
		if s.selects(&all[i]) {
			chosen = append(chosen, all[i])
		}
	}
	// What others explain is repaired with them, where their repair does not do it.
	for i := range r.Folded {
		x := r.Folded[i]
		head := heads[x.Key()]
		switch {
		case slices.ContainsFunc(chosen, func(c finding.Finding) bool { return c.Key() == head }), s.rebuild && ofIPAM(&x, s.blocks):
			chosen = append(chosen, x)
		case s.hasCode(&x):
			missing = append(missing, explainedBy(x.Key(), head))
		}
	}
	for _, k := range s.keys {
		switch head := heads[k]; {
		case there[k]:
		case head != "":
			missing = append(missing, explainedBy(k, head))
		default:
			missing = append(missing, notFound(r, k))
		}
	}
	return chosen, missing
}

// notFound says that a finding is not there, or that this is not known.
func notFound(r *audit.Report, key string) repair.Refusal {
	k, _ := finding.ParseKey(key)
	if _, judged := r.Judged[k.Code]; !judged || len(r.Gaps) > 0 {
		return repair.Refusal{Finding: key, Why: repair.NotLooked}
	}
	return repair.Refusal{Finding: key, Why: repair.NotPresent}
}

// selects tells whether a finding that no other explains is to be repaired. Without keys,
// findings of severity info are not.
func (s *planSelection) selects(x *finding.Finding) bool {
	switch {
	case len(s.keys) > 0 && !slices.Contains(s.keys, x.Key()),
		len(s.codes) > 0 && !s.hasCode(x),
		s.node != "" && x.Node != s.node,
		s.namespace != "" && !x.InNamespace(s.namespace),
		x.Severity == finding.Info && len(s.keys) == 0,
		s.rebuild && !ofIPAM(x, s.blocks):
		return false
	}
	return true
}

// hasCode tells whether the user named the code of a finding.
func (s *planSelection) hasCode(x *finding.Finding) bool {
	return slices.ContainsFunc(s.codes, func(c string) bool { return strings.EqualFold(c, string(x.Code)) })
}

func explainedBy(key, head string) repair.Refusal {
	return repair.Refusal{Finding: key, Why: "it is explained by " + head, Advice: "plan " + head}
}

// ofIPAM tells that a finding is about what blocks and handles say, of these blocks if any
// are named.
func ofIPAM(x *finding.Finding, blocks []netip.Prefix) bool {
	if !slices.Contains([]finding.Code{finding.PL1001, finding.PL1002, finding.PL1003, finding.PL1004, finding.PL1006, finding.PL1008}, x.Code) {
		return false
	}
	if len(blocks) == 0 {
		return true
	}
	for _, r := range append(slices.Clone(x.About), x.Subject) {
		ip, err := netip.ParseAddr(r.Name)
		for _, b := range blocks {
			if err == nil && b.Contains(ip) || r.Kind == model.KindBlock && r.Name == b.String() {
				return true
			}
		}
	}
	return false
}
