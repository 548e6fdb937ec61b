package audit

import (
	"slices"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// fold shows a finding under another that explains it (ShadowedBy, with a common object in
// About). An unconfirmed finding explains no confirmed one. Every finding is in exactly one
// of heads and folded; the Explains of each head have the keys of all findings under it.
func fold(fs []finding.Finding) (heads, folded []finding.Finding) {
	about := map[topic][]int{}
	for i := range fs {
		for _, r := range fs[i].About {
			at := topic{r, fs[i].Code}
			about[at] = append(about[at], i)
		}
	}
	under := make([]int, len(fs))
	for i := range fs {
		under[i] = explainedBy(fs, i, about)
	}
	for i := range fs {
		if top := root(under, i); top != i {
			fs[top].Explains = append(fs[top].Explains, fs[i].Key())
			if fs[i].Severity.Level() > fs[top].Severity.Level() && fs[i].State == finding.Confirmed {
				fs[top].Severity = fs[i].Severity // what is shown under it is as bad as before
			}
		}
	}
	for i := range fs {
		if under[i] >= 0 {
			folded = append(folded, fs[i])
			continue
		}
		slices.Sort(fs[i].Explains)
		heads = append(heads, fs[i])
	}
	return heads, folded
}

// A topic is an object and a code: where a finding that explains others is looked for.
type topic struct {
	ref  model.Ref
	code finding.Code
}

// explainedBy gives the finding that explains finding i, of several the one with the first
// key; -1 if there is none.
func explainedBy(fs []finding.Finding, i int, about map[topic][]int) int {
	under, d := -1, detect.ByCode(fs[i].Code)
	if d == nil {
		return under
	}
	for _, r := range fs[i].About {
		for _, code := range d.ShadowedBy {
			for _, j := range about[topic{r, code}] {
				explains := fs[j].State == finding.Confirmed || fs[i].State != finding.Confirmed
				if explains && (under < 0 || fs[j].Key() < fs[under].Key()) {
					under = j
				}
			}
		}
	}
	return under
}

// root is the head of finding i; under[i] is the index of the finding that explains i, or -1.
// ShadowedBy has no cycle; the bound only prevents an endless loop.
func root(under []int, i int) int {
	for n := 0; under[i] >= 0 && n < len(under); n++ {
		i = under[i]
	}
	return i
}
