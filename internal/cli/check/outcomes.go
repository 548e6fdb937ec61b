package check

import (
	"fmt"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// An outcome is what a check says of a code, for reports that have passed and failed rules. A code has passed if it has
// neither findings nor a reason why that is not known: it was judged everywhere, and nothing was found, unconfirmed or
// suppressed.
type outcome struct {
	found  bool
	why    string
	result string // error, or skip where there is nothing to judge
}

// outcomes are those of the codes that did not pass.
func outcomes(r *audit.Report) map[finding.Code]outcome {
	out := map[finding.Code]outcome{}
	note := func(c finding.Code, result, why string) {
		o := out[c]
		if o.why != "" {
			o.why += "; "
		}
		if o.why += why; o.result != "error" {
			o.result = result
		}
		out[c] = o
	}
	for _, s := range r.Skipped {
		result := "error"
		if s.NotApplicable {
			result = "skip"
		}
		note(s.Code, result, "not judged: "+plain.Line(s.Why))
	}
	for _, fs := range []struct {
		is, result string
		findings   []finding.Finding
	}{{"unconfirmed", "error", r.Unconfirmed}, {"suppressed", "skip", r.Suppressed}} {
		n := map[finding.Code]int{}
		for i := range fs.findings {
			n[fs.findings[i].Code]++
		}
		for c, n := range n {
			note(c, fs.result, fmt.Sprintf("%s %s", plain.Count(n, "finding"), fs.is))
		}
	}
	for i := range r.Findings {
		o := out[r.Findings[i].Code]
		o.found = true
		out[r.Findings[i].Code] = o
	}
	return out
}
