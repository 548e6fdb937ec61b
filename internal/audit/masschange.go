package audit

import (
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A detector that reports more than massCount subjects and more than one in massShare is more
// likely wrong about this cluster than right about each of them.
const (
	massShare = 100
	massCount = 50
)

// massChanges returns one line for every code that affects too many subjects, sorted.
func massChanges(fs []finding.Finding, judged map[finding.Code]int) []string {
	hits := map[finding.Code]int{}
	for i := range fs {
		hits[fs[i].Code]++
	}
	var out []string
	for code, n := range hits {
		if all := judged[code]; n > massCount && n*massShare > all {
			out = append(out, fmt.Sprintf("%s affects %d of %d: Calico IPAM does not describe this cluster, was restored, or Plumbline misreads it", code, n, all))
		}
	}
	slices.Sort(out)
	return out
}

// restored returns one line for a datastore that went back to an earlier time: what the records say is of then.
func restored(fs []finding.Finding) (out []string) {
	for i := range fs {
		if f := &fs[i]; f.Code == finding.PL9006 {
			out = append(out, fmt.Sprintf("%s: %s %s", f.Code, f.Subject.Name, f.Summary))
		}
	}
	return out
}

// leakedShare adds to the summary of a full pool how many of its addresses are leaked.
func leakedShare(v *model.View, fs []finding.Finding) {
	for i := range fs {
		if fs[i].Code != finding.PL1009 || fs[i].Subject.Kind != model.KindPool {
			continue
		}
		n := 0
		for j := range fs {
			if a, err := netip.ParseAddr(fs[j].Subject.Name); fs[j].Code == finding.PL1001 && fs[j].Class == finding.Leak && err == nil {
				if p := v.PoolWith(a); p != nil && p.Name == fs[i].Subject.Name {
					n++
				}
			}
		}
		if n > 0 {
			fs[i].Summary += fmt.Sprintf("; %d of them are leaked (PL1001)", n)
		}
	}
}
